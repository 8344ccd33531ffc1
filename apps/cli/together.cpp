#include "cli/together.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <optional>
#include <sched.h>
#include <streambuf>
#include <string>
#include <unistd.h>
#include <vector>

#include "lase/base/context.h"
#include "lase/base/error.h"

#include "cli/failure.h"

namespace {

// Discards the output of this process while it exists.
class Muted {
 public:
  Muted() : stdout_(::dup(STDOUT_FILENO)), err_(std::cerr.rdbuf(&none_)) {
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(null, STDOUT_FILENO);
    ::close(null);
  }
  Muted(const Muted&) = delete;
  Muted& operator=(const Muted&) = delete;
  ~Muted() {
    std::cout.flush();
    std::cerr.rdbuf(err_);
    ::dup2(stdout_, STDOUT_FILENO);
    ::close(stdout_);
  }

 private:
  struct None : std::streambuf {
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  };

  None none_;
  int stdout_;
  std::streambuf* err_;
};

}  // namespace

void run_together(const lase::LaunchEnvironment& launch, JoinProcesses join,
                  const std::function<void()>& run) {
  const auto group = join(launch);
  std::optional<Muted> muted;
  if (group->rank() > 0) muted.emplace();
  try {
    const lase::ProcessScope scope(group.get());
    run();
    group->finish();
  } catch (const lase::ProcessError& error) {
    if (!error.reports()) throw SilentExit{failure_of(error).code};
    throw;
  } catch (const SilentExit&) {
    throw;
  } catch (const std::exception& error) {
    const Failure failure = failure_of(error);
    group->stop(failure.message);
    if (group->rank() > 0) throw SilentExit{failure.code};  // process 0 reports it
    throw;
  }
}

int threads_per_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  cpu_set_t usable{};
  ::sched_getaffinity(0, sizeof usable, &usable);
  std::string own = host.data();
  own.append(reinterpret_cast<const char*>(&usable), sizeof usable);
  const std::vector<std::string> all = lase::gather(*lase::current_processes(), own);
  const int threads = lase::default_thread_count();
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return threads;
  const auto sharing = std::count(all.begin(), all.end(), own);
  return std::max(1, threads / static_cast<int>(sharing));
}

bool is_other_process() try {
  const auto launch = lase::launch_environment();
  return launch && launch->rank > 0;
} catch (const lase::Error&) {
  return false;
}
