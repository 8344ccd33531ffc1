#include "cli/fault_handler.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <string_view>
#include <unistd.h>

#include "lase/base/file.h"

namespace {

constexpr std::array kSignals = {SIGBUS, SIGSEGV};
std::array<struct sigaction, kSignals.size()> previous;
std::atomic_flag reported;

// Only async-signal-safe calls are allowed below.

void print(std::string_view text) {
  const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);
}

void on_fault(int signal, siginfo_t* info, void*) {
  if (const char* path = lase::changed_mapped_file()) {
    // Several threads may fault at once. The first one ends the process.
    if (reported.test_and_set()) ::pause();
    print("\nlase: ");
    print(path);
    print(kChangedFile);
    print("\n");
    ::_exit(1);
  }
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) ::sigaction(signal, &previous[i], nullptr);
  }
  // Returning re-executes the faulting instruction, now with the previous handler. A signal sent by
  // another process is raised again.
  if (info->si_code <= 0) ::raise(signal);
}

}  // namespace

void install_fault_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &previous[i]);
}
