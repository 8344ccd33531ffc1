// Groups of processes that torch connects; here, every process is a thread.
#include "lase/distributed/c10d_group.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <torch/version.h>

#include "lase/base/error.h"
#include "lase/distributed/join.h"

#include "support.h"

namespace lase {
namespace {

class C10d : public FolderTest {
 protected:
  void SetUp() override {
    if (TORCH_VERSION_MAJOR > 1) GTEST_SKIP() << "torch has no headers of Gloo";
  }

  LaunchEnvironment launch(int64_t rank, int64_t size) const {
    LaunchEnvironment launch;
    launch.rank = rank;
    launch.size = size;
    launch.file = path("processes");
    launch.timeout = std::chrono::seconds(20);
    return launch;
  }

  // Calls body(group) in `size` threads, and returns the message of each error, or "".
  Strings run(int64_t size, const std::function<void(ProcessGroup&)>& body) const {
    Strings errors(static_cast<size_t>(size));
    std::vector<std::thread> threads;
    for (int64_t rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(*join_processes(launch(rank, size)));
        } catch (const std::exception& error) {
          errors[static_cast<size_t>(rank)] = error.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    return errors;
  }
};

// Exchanges messages whose sizes and bytes depend on both ends; some are empty.
void exchange_messages(ProcessGroup& group) {
  const auto message = [](int64_t from, int64_t to) {
    std::vector<std::byte> bytes(static_cast<size_t>((from * 3 + to * 5) % 7 * 1000));
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(i * 31 + static_cast<size_t>(from * 8 + to));
    }
    return bytes;
  };
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  std::vector<ProcessGroup::Bytes> send;
  std::vector<ProcessGroup::Buffer> receive;
  int64_t bytes = 0;
  for (int64_t i = 0; i < group.size(); ++i) {
    sent.push_back(message(group.rank(), i));
    received.emplace_back(message(i, group.rank()).size());
    if (i != group.rank()) bytes += std::ssize(sent.back());
  }
  for (size_t i = 0; i < sent.size(); ++i) {
    send.emplace_back(sent[i]);
    receive.emplace_back(received[i]);
  }
  const int64_t before = group.bytes_sent();
  group.exchange(send, receive);
  EXPECT_EQ(group.bytes_sent() - before, bytes);
  for (int64_t i = 0; i < group.size(); ++i) {
    if (i == group.rank()) continue;
    EXPECT_EQ(received[static_cast<size_t>(i)], message(i, group.rank()));
  }
}

TEST_F(C10d, ExchangesMessagesOfAnySize) {
  for (const int64_t size : {1, 2, 3, 4}) {
    remove_all(path("processes"));
    const Strings errors = run(size, [&](ProcessGroup& group) {
      EXPECT_EQ(group.size(), size);
      for (int repeat = 0; repeat < 5; ++repeat) exchange_messages(group);
      group.finish();
    });
    EXPECT_EQ(errors, Strings(static_cast<size_t>(size))) << size;
  }
}

TEST_F(C10d, NamesTheProcessThatStoppedAndItsReason) {
  std::atomic<int> reports = 0;
  const Strings errors = run(3, [&](ProcessGroup& group) {
    exchange_messages(group);
    if (group.rank() == 1) {
      group.stop("the disk is full");
      return;
    }
    try {
      exchange_messages(group);
    } catch (const ProcessError& error) {
      reports += error.reports() ? 1 : 0;
      throw;
    }
  });
  EXPECT_EQ(errors, (Strings{"process 1: the disk is full", "", "process 1: the disk is full"}));
  EXPECT_EQ(reports, 1);
}

TEST_F(C10d, NamesTheProcessThatStoppedAfterTheLastExchange) {
  const Strings errors = run(2, [&](ProcessGroup& group) {
    exchange_messages(group);
    if (group.rank() == 1) {
      group.stop("the disk is full");
    } else {
      group.finish();
    }
  });
  EXPECT_EQ(errors, (Strings{"process 1: the disk is full", ""}));
}

TEST_F(C10d, NamesAProcessThatEndedSilently) {
  std::atomic<int> reports = 0;
  const Strings errors = run(3, [&](ProcessGroup& group) {
    exchange_messages(group);
    if (group.rank() == 0) return;
    try {
      exchange_messages(group);
    } catch (const ProcessError& error) {
      reports += error.reports() ? 1 : 0;
      throw;
    }
  });
  const std::string expected = "process 0 was killed or does not respond";
  EXPECT_EQ(errors, (Strings{"", expected, expected}));
  EXPECT_EQ(reports, 1);
}

// The signals that each thread of this process blocks, as in sigset_t: bit n − 1 for signal n.
std::map<std::string, uint64_t> blocked_signals() {
  std::map<std::string, uint64_t> blocked;
  const std::string key = "SigBlk:";
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with(key)) continue;
      blocked[thread.path().filename()] = std::stoull(line.substr(key.size()), nullptr, 16);
    }
  }
  return blocked;
}

// Writing to a process that has stopped must not end this one.
TEST_F(C10d, StartsThreadsThatBlockBrokenPipes) {
  constexpr uint64_t kBrokenPipe = uint64_t{1} << (SIGPIPE - 1);
  const auto before = blocked_signals();
  const auto group = join_processes(launch(0, 1));
  const auto again = group->connect_again();
  int started = 0;
  for (const auto& [thread, signals] : blocked_signals()) {
    if (const auto old = before.find(thread); old != before.end()) {
      EXPECT_EQ(signals, old->second);
    } else {
      EXPECT_NE(signals & kBrokenPipe, 0);
      ++started;
    }
  }
  EXPECT_GE(started, 2);  // for each connection
}

TEST_F(C10d, ConnectsAgainForAnotherThread) {
  const Strings errors = run(3, [](ProcessGroup& group) {
    const auto again = group.connect_again();
    std::thread other([&] {
      for (int i = 0; i < 20; ++i) exchange_messages(*again);
    });
    for (int i = 0; i < 20; ++i) exchange_messages(group);
    other.join();
    group.finish();
  });
  EXPECT_EQ(errors, Strings(3));
}

// A thread that waits for the others is released when its process has an error.
TEST_F(C10d, AbandonsAnExchange) {
  const Strings errors = run(2, [](ProcessGroup& group) {
    const auto again = group.connect_again();
    std::thread waiting([&] {
      if (group.rank() == 0) expect_error([&] { exchange_messages(*again); }, {"has stopped"});
    });
    if (group.rank() == 0) again->abandon();
    waiting.join();
    group.finish();
  });
  EXPECT_EQ(errors, Strings(2));
}

TEST_F(C10d, NamesTheProcessThatDoesNotJoin) {
  LaunchEnvironment alone = launch(0, 2);
  alone.timeout = std::chrono::seconds(1);
  expect_error([&] { join_processes(alone); }, {"process 1 of 2 did not join within 1 s"});
}

}  // namespace
}  // namespace lase
