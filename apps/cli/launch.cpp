#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/launch_environment.h"
#include "lase/base/option_table.h"

#include "cli/failure.h"
#include "cli/option_flags.h"
#include "cli/program.h"

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::array kCommands = {"train", "evaluate", "predict", "embed"};

struct Options {
  int64_t processes = 2;
  int64_t timeout = lase::LaunchEnvironment::kDefaultTimeout.count();
  std::vector<std::string> command;
};

// A folder for the file in which the processes find each other; it is removed with its contents.
class RendezvousFolder {
 public:
  RendezvousFolder() {
    std::string name = (fs::temp_directory_path() / "lase-XXXXXX").string();
    lase::require_file(::mkdtemp(name.data()) != nullptr, name, "cannot be created");
    path_ = name;
  }
  RendezvousFolder(const RendezvousFolder&) = delete;
  RendezvousFolder& operator=(const RendezvousFolder&) = delete;
  ~RendezvousFolder() {
    std::error_code error;
    fs::remove(file(), error);
    fs::remove(path_, error);
  }
  fs::path file() const { return path_ / "processes"; }

 private:
  fs::path path_;
};

// While it exists, these signals are not delivered, but wait for next().
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set_, signal);
    ::pthread_sigmask(SIG_BLOCK, &set_, &previous_);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() { ::pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

  // The next signal, or 0 if there is none for a while.
  int next() const {
    constexpr timespec kWhile{.tv_sec = 0, .tv_nsec = 200'000'000};
    return std::max(0, ::sigtimedwait(&set_, nullptr, &kWhile));
  }
  // The signal mask of a new process.
  void restore() const { ::sigprocmask(SIG_SETMASK, &previous_, nullptr); }

 private:
  sigset_t set_{};
  sigset_t previous_{};
};

struct Child {
  pid_t pid = -1;
  bool running = true;
  int status = 0;  // as from waitpid

  bool failed() const { return !running && status != 0; }
};

// Replaces this child process with the command.
[[noreturn]] void execute(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  std::cerr << "lase: cannot be run again: " << std::strerror(errno) << "\n";
  ::_exit(kBadInput);
}

class Launched {
 public:
  Launched(const Options& options, const Signals& signals) : options_(options) {
    const pid_t parent = ::getpid();
    for (int64_t rank = 0; rank < options.processes; ++rank) {
      const pid_t pid = ::fork();
      if (pid < 0) {
        kill_all(SIGKILL);
        lase::fail("process ", rank, " cannot be started: ", std::strerror(errno));
      }
      if (pid == 0) become(rank, parent, signals);
      ::setpgid(pid, pid);
      children_.push_back({.pid = pid});
    }
  }

  void kill_all(int signal) const {
    for (const Child& child : children_) {
      if (child.running) ::kill(child.pid, signal);
    }
  }

  // Updates which processes are running.
  void look() {
    for (Child& child : children_) {
      if (child.running && ::waitpid(child.pid, &child.status, WNOHANG) == child.pid) {
        child.running = false;
      }
    }
  }

  bool running() const {
    return std::any_of(children_.begin(), children_.end(), [](const auto& c) { return c.running; });
  }
  bool failed() const {
    return std::any_of(children_.begin(), children_.end(),
                       [](const auto& c) { return c.failed(); });
  }
  // That of the first process that failed by itself, after printing an error; 0: none failed.
  // Throws Error if all were killed.
  int exit_code() const {
    int64_t killed = -1;
    for (size_t i = 0; i < children_.size(); ++i) {
      const int status = children_[i].status;
      if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
      if (WIFSIGNALED(status) && killed < 0) killed = static_cast<int64_t>(i);
    }
    if (killed < 0) return 0;
    const int signal = WTERMSIG(children_[static_cast<size_t>(killed)].status);
    lase::fail("process ", killed, " was killed by signal ", signal, " (", ::strsignal(signal),
               ")");
  }

 private:
  [[noreturn]] void become(int64_t rank, pid_t parent, const Signals& signals) const {
    // Signals from the terminal reach the launcher, which passes them on once.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kBadInput);
    signals.restore();
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(null, STDIN_FILENO);
    const auto set = [](const char* name, int64_t value) {
      ::setenv(name, std::to_string(value).c_str(), 1);
    };
    set("RANK", rank);
    set("LOCAL_RANK", rank);
    set("WORLD_SIZE", options_.processes);
    set("LOCAL_WORLD_SIZE", options_.processes);
    set(lase::kTimeoutVariable, options_.timeout);
    ::setenv(lase::kRendezvousVariable, folder_.file().c_str(), 1);
    std::vector<std::string> words = {"lase"};
    words.insert(words.end(), options_.command.begin(), options_.command.end());
    execute(words);
  }

  const Options& options_;
  RendezvousFolder folder_;
  std::vector<Child> children_;
};

int launch(const Options& options) {
  const Signals signals;
  Launched launched(options, signals);
  bool interrupted = false;
  std::optional<Clock::time_point> last_signal;
  std::optional<Clock::time_point> first_failure;
  // The others notice a failure within the timeout, and then tell each other.
  const auto patience = std::chrono::seconds(options.timeout + 10);
  for (; launched.running(); launched.look()) {
    const int signal = signals.next();
    const auto now = Clock::now();
    // The same Ctrl-C may arrive twice.
    const bool repeated = last_signal && now - *last_signal < std::chrono::milliseconds(500);
    if (signal > 0 && signal != SIGCHLD && !repeated) {
      launched.kill_all(signal == SIGHUP ? SIGTERM : signal);
      interrupted = true;
      last_signal = now;
    }
    if (launched.failed() && !first_failure) first_failure = now;
    if (first_failure && now - *first_failure > patience) launched.kill_all(SIGKILL);
  }
  return interrupted ? kInterrupted : launched.exit_code();
}

}  // namespace

void add_launch(CLI::App& app, Session& /*session*/) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("launch", command_summary("launch"));
  command->option_defaults()->always_capture_default();
  lase::OptionTable<Options> table;
  table.add("processes", &Options::processes, lase::between(1, 4096),
            "Number of processes; cores are divided equally among them, unless --threads or "
            "OMP_NUM_THREADS is set");
  table.add("timeout", &Options::timeout, lase::between(1, 7 * 24 * 3600),
            "Number of seconds to wait for a process that does not respond");
  add_flags(*command, table.bind(*options));
  command->add_option("command", options->command, "lase command to run, after --")
      ->required()
      ->default_str("");
  command->footer(
      "The model is the same for any number of processes, and as that of lase train --chunks 16.\n"
      "\n"
      "Examples:\n"
      "  lase launch --processes 4 -- train big.graph --out big.model\n"
      "  lase launch --processes 4 -- predict big.model big.graph --out predictions.csv");
  command->callback([options] {
    const std::string& name = options->command.front();
    const bool known = std::find(kCommands.begin(), kCommands.end(), name) != kCommands.end();
    lase::require_option(known, "lase launch: expected train, evaluate, predict or embed, got ",
                         lase::quote(name));
    const int code = launch(*options);
    if (code != 0) throw SilentExit{code};
  });
}
