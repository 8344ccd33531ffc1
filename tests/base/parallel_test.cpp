#include "lase/base/parallel.h"

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "lase/base/denormals.h"
#include "lase/base/error.h"

#include "support.h"

namespace lase {
namespace {

// Restores the number of threads after a test.
class ParallelFor : public testing::TestWithParam<int> {
 protected:
  ParallelFor() : before_(thread_count()) { set_thread_count(GetParam()); }
  ~ParallelFor() override { set_thread_count(before_); }

 private:
  int before_;
};

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 7));

TEST_P(ParallelFor, VisitsEveryElementOnceInTheSamePieces) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> pieces;
  parallel_for(10, 4, [&](int64_t first, int64_t last) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(pieces.emplace(first, last).second);
  });
  const std::set<std::pair<int64_t, int64_t>> expected = {{0, 4}, {4, 8}, {8, 10}};
  EXPECT_EQ(pieces, expected);
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

TEST_P(ParallelFor, RunsTheOtherPiecesDespiteAnError) {
  std::atomic<int64_t> visited = 0;
  const auto body = [&](int64_t first, int64_t last) {
    visited += last - first;
    require(first != 0, "the first piece fails");
  };
  expect_error([&] { parallel_for(100, 10, body); }, {"the first piece fails"});
  EXPECT_EQ(visited, 100);
}

TEST(ThreadCount, IsAtLeastOne) {
  const int before = thread_count();
  set_thread_count(-3);
  EXPECT_EQ(thread_count(), 1);
  set_thread_count(before);
}

TEST(ParallelFor, TakesDenormalsAsItsCallerDoes) {
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
