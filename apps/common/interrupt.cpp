#include "common/interrupt.h"

#include <csignal>
#include <cstdlib>

namespace {

std::atomic<bool> requested{false};

void on_interrupt(int) {
  // The second Ctrl-C does not wait for a clean stop.
  if (requested.exchange(true)) std::_Exit(130);
}

}  // namespace

const std::atomic<bool>& interrupted() { return requested; }

Interruptible::Interruptible() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}
