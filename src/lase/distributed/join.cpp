#include "lase/distributed/join.h"

#include <torch/version.h>

#include "lase/base/error.h"
#include "lase/distributed/c10d_group.h"

// Later versions of torch do not install the headers of Gloo.
#if TORCH_VERSION_MAJOR == 1 && __has_include(<gloo/config.h>)

#ifndef USE_C10D_GLOO
#define USE_C10D_GLOO
#endif
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace lase {

namespace {

using Store = c10::intrusive_ptr<c10d::Store>;
using c10d::ProcessGroupGloo;

// Blocks SIGPIPE in this thread, and in the threads that are started during its lifetime for as
// long as they run. Those of Gloo write to other processes; if one of these has stopped, the write
// must fail and not end this process.
class BlockBrokenPipe {
 public:
  BlockBrokenPipe() {
    ::sigemptyset(&broken_pipe_);
    ::sigaddset(&broken_pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe_, &previous_);
  }
  BlockBrokenPipe(const BlockBrokenPipe&) = delete;
  BlockBrokenPipe& operator=(const BlockBrokenPipe&) = delete;
  ~BlockBrokenPipe() {
    if (::sigismember(&previous_, SIGPIPE) == 1) return;
    constexpr timespec kNow{};
    while (::sigtimedwait(&broken_pipe_, nullptr, &kNow) == SIGPIPE) {
    }
    ::pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
  }

 private:
  sigset_t broken_pipe_{};
  sigset_t previous_{};
};

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

std::string joined_by(int64_t rank) { return "joined/" + std::to_string(rank); }

Store open_store(const LaunchEnvironment& launch) {
  if (launch.size == 1) return c10::make_intrusive<c10d::HashStore>();
  const auto size = static_cast<int>(launch.size);
  if (!launch.file.empty()) return c10::make_intrusive<c10d::FileStore>(launch.file, size);
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(launch.port);
  options.isServer = launch.rank == 0 && !launch.launcher_listens;
  options.numWorkers = static_cast<size_t>(size);
  options.waitWorkers = false;
  options.timeout = launch.timeout;
  try {
    return c10::make_intrusive<c10d::TCPStore>(launch.address, options);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    if (options.isServer) {
      fail("process 0 cannot listen on port ", launch.port,
           " (the environment variable MASTER_PORT): ", text.substr(0, text.find('\n')));
    }
    fail("process ", launch.rank, " cannot connect to process 0 at ", launch.address, ":",
         launch.port, " within ", launch.timeout.count(),
         " s; check the environment variables MASTER_ADDR and MASTER_PORT");
  }
}

// Waits for the other processes, so that the error names those that are missing.
void wait_for_all(c10d::Store& store, const LaunchEnvironment& launch) {
  store.set(joined_by(launch.rank), {});
  const auto deadline = std::chrono::steady_clock::now() + launch.timeout;
  for (int64_t i = 0; i < launch.size; ++i) {
    while (!store.check({joined_by(i)})) {
      require(std::chrono::steady_clock::now() < deadline, "process ", i, " of ", launch.size,
              " did not join within ", launch.timeout.count(), " s");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

std::shared_ptr<gloo::transport::Device> network_device(const LaunchEnvironment& launch) {
  if (!launch.file.empty() || is_loopback(launch.address)) {
    return ProcessGroupGloo::createDeviceForInterface("lo");
  }
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  return interface != nullptr ? ProcessGroupGloo::createDeviceForInterface(interface)
                              : ProcessGroupGloo::createDefaultDevice();
}

}  // namespace

std::unique_ptr<ProcessGroup> join_processes(const LaunchEnvironment& launch) {
  const BlockBrokenPipe scope;
  const auto store =
      c10::make_intrusive<c10d::PrefixStore>("lase" + launch.restart, open_store(launch));
  wait_for_all(*store, launch);
  const auto options = ProcessGroupGloo::Options::create(launch.timeout);
  options->devices.push_back(network_device(launch));
  const auto connect = [=, number = 0]() mutable -> c10::intrusive_ptr<c10d::ProcessGroup> {
    const BlockBrokenPipe scope_of_connection;
    const std::string prefix = "gloo" + std::to_string(number++);
    return c10::make_intrusive<ProcessGroupGloo>(
        c10::make_intrusive<c10d::PrefixStore>(prefix, store), static_cast<int>(launch.rank),
        static_cast<int>(launch.size), options);
  };
  C10dGroup::Options group{.store = store, .timeout = launch.timeout, .connect = connect};
  return std::make_unique<C10dGroup>(group.connect(), group);
}

}  // namespace lase

#else

namespace lase {

std::unique_ptr<ProcessGroup> join_processes(const LaunchEnvironment& /*launch*/) {
  fail("this build of lase cannot connect processes, because torch ", TORCH_VERSION,
       " does not come with the headers of Gloo; use the Python package and torchrun");
}

}  // namespace lase

#endif
