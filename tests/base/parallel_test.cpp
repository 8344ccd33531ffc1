#include "lase/base/parallel.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "lase/base/denormals.h"
#include "lase/base/error.h"

#include "support.h"

namespace lase {
namespace {

class ParallelFor : public testing::TestWithParam<int> {
 private:
  ThreadLimit limit_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 7));

TEST_P(ParallelFor, VisitsEveryElementOnceInTheSameChunks) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> chunks;
  parallel_for(10, 4, [&](int64_t first, int64_t last) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(chunks.emplace(first, last).second);
  });
  const std::set<std::pair<int64_t, int64_t>> expected = {{0, 4}, {4, 8}, {8, 10}};
  EXPECT_EQ(chunks, expected);
}

TEST_P(ParallelFor, DoesNothingForNoElements) {
  parallel_for(0, 4, [](int64_t, int64_t) { FAIL(); });
}

TEST_P(ParallelFor, ThrowsTheFirstErrorByPosition) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    expect_error(
        [] {
          parallel_for(1000, 10, [](int64_t first, int64_t) {
            require(first < 300, "failed at ", first, ".");
          });
        },
        {"failed at 300."});
  }
}

TEST_P(ParallelFor, RunsTheOtherChunksDespiteAnError) {
  std::atomic<int64_t> visited = 0;
  const auto body = [&](int64_t first, int64_t last) {
    visited += last - first;
    require(first != 0, "the first chunk fails");
  };
  expect_error([&] { parallel_for(100, 10, body); }, {"the first chunk fails"});
  EXPECT_EQ(visited, 100);
}

TEST(Context, HasAtLeastOneThread) {
  const ThreadLimit limit(-3);
  EXPECT_EQ(thread_count(), 1);
}

TEST(Context, EndsWithItsScope) {
  const int before = thread_count();
  {
    const ThreadLimit outer(5);
    {
      const ThreadLimit inner(3);
      EXPECT_EQ(thread_count(), 3);
    }
    EXPECT_EQ(thread_count(), 5);
  }
  EXPECT_EQ(thread_count(), before);
}

TEST(Context, DoesNotAffectOtherThreads) {
  const int before = thread_count();
  const ThreadLimit limit(before + 6);
  int other = 0;
  std::thread([&] { other = thread_count(); }).join();
  EXPECT_EQ(other, before);
  const Context handed_over = Context::current();
  std::thread([&] {
    const ContextScope scope(handed_over);
    other = thread_count();
  }).join();
  EXPECT_EQ(other, before + 6);
}

TEST(Context, LimitsChunksToOneThread) {
  const ThreadLimit limit(4);
  parallel_for(8, 1, [](int64_t, int64_t) { EXPECT_EQ(thread_count(), 1); });
  EXPECT_EQ(thread_count(), 4);
}

TEST_P(ParallelFor, StopsWhenAsked) {
  std::atomic<bool> stop = false;
  Context context = Context::current();
  context.stop = &stop;
  const ContextScope scope(context);
  std::atomic<int> visited = 0;
  EXPECT_THROW(parallel_for(1000, 1,
                            [&](int64_t i, int64_t) {
                              if (i == 10) stop = true;
                              ++visited;
                            }),
               Stopped);
  EXPECT_LT(visited, 1000);
}

// Waits until `done` returns true, for at most this long; returns whether it did.
template <class Condition>
bool wait_until(std::chrono::milliseconds longest, const Condition& done) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  while (!done() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return done();
}

constexpr std::chrono::seconds kLong{10};

class NestedParallelFor : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(CallerFinishesFirst, NestedParallelFor, testing::Bool());

// Two threads have a chunk each. The one that finishes first, the caller or the other one, then
// computes a nested chunk of the other.
TEST_P(NestedParallelFor, UsesTheThreadThatHasNoChunkLeft) {
  const ThreadLimit two(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> started = 0;
  std::atomic<int> nested = 0;
  std::atomic<bool> alone = false;
  parallel_for(2, 1, [&](int64_t, int64_t) {
    ++started;
    wait_until(kLong, [&] { return started == 2; });
    if ((std::this_thread::get_id() == caller) == GetParam()) return;
    const ThreadLimit limit(2);
    parallel_for(2, 1, [&](int64_t, int64_t) {
      ++nested;
      if (!wait_until(kLong, [&] { return nested == 2; })) alone = true;
    });
  });
  EXPECT_FALSE(alone);
}

// The other job may need a lock that the waiting thread holds.
TEST(ParallelFor, DoesNotHelpWithOtherJobsWhileItWaits) {
  const ThreadLimit two(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> started = 0;
  std::atomic<int> other_started = 0;
  std::atomic<bool> other_ended = false;
  std::atomic<bool> helped = false;
  std::thread other([&] {
    const ThreadLimit limit(2);
    wait_until(kLong, [&] { return started == 2; });
    parallel_for(2, 1, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() == caller) helped = true;
      ++other_started;
      wait_until(std::chrono::milliseconds(200), [&] { return other_started == 2; });
    });
    other_ended = true;
  });
  parallel_for(2, 1, [&](int64_t, int64_t) {
    const bool is_caller = std::this_thread::get_id() == caller;
    ++started;
    wait_until(kLong, [&] { return is_caller ? other_started > 0 : other_ended.load(); });
  });
  other.join();
  EXPECT_FALSE(helped);
}

// Two callers, each with jobs within chunks of jobs within chunks.
TEST(ParallelFor, VisitsEveryElementOfNestedJobsOnce) {
  constexpr int64_t kOuter = 7;
  constexpr int64_t kMiddle = 5;
  constexpr int64_t kInner = 40;
  const auto nested = [&](int64_t& total) {
    const ThreadLimit outer_limit(4);
    std::atomic<int64_t> sum = 0;
    parallel_for(kOuter, 1, [&](int64_t i, int64_t) {
      const ThreadLimit limit(4);
      parallel_for(kMiddle, 1, [&](int64_t j, int64_t) {
        const ThreadLimit inner_limit(3);
        parallel_for(kInner, 3, [&](int64_t first, int64_t last) {
          for (int64_t k = first; k < last; ++k) sum += (i * kMiddle + j) * kInner + k;
        });
      });
    });
    total = sum;
  };
  constexpr int64_t kAll = kOuter * kMiddle * kInner;
  for (int repeat = 0; repeat < 100; ++repeat) {
    int64_t first = 0;
    int64_t second = 0;
    std::thread other([&] { nested(second); });
    nested(first);
    other.join();
    ASSERT_EQ(first, kAll * (kAll - 1) / 2);
    ASSERT_EQ(second, kAll * (kAll - 1) / 2);
  }
}

TEST(ParallelFor, WorksInAForkedProcess) {
  const ThreadLimit limit(3);
  const auto sum = [] {
    std::atomic<int64_t> total = 0;
    parallel_for(100, 1, [&](int64_t i, int64_t) { total += i; });
    return total.load();
  };
  EXPECT_EQ(sum(), 4950);  // starts the threads
  const pid_t child = ::fork();
  if (child == 0) ::_exit(sum() == 4950 ? 0 : 1);
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ParallelFor, InheritsDenormalFlushing) {
  volatile float small = 1e-30F;
  for (const bool on : {true, false}) {
    const FlushDenormals flush(on);
    std::vector<int> zero(64);
    parallel_for(64, 1, [&](int64_t i, int64_t) {
      const volatile float product = small * 1e-10F;  // 1e-40
      zero[static_cast<size_t>(i)] = product == 0 ? 1 : 0;
    });
#if defined(__SSE2__)
    for (const int is_zero : zero) EXPECT_EQ(is_zero, on ? 1 : 0);
#endif
  }
}

}  // namespace
}  // namespace lase
