#include "common/interrupt.h"

#include <csignal>
#include <cstdlib>

namespace {

std::atomic<bool> asked{false};

void on_interrupt(int) {
  // The second time nobody wants to wait for what is in work.
  if (asked.exchange(true)) std::_Exit(130);
}

}  // namespace

const std::atomic<bool>& interrupted() { return asked; }

Interruptible::Interruptible() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

Interruptible::~Interruptible() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}
