#pragma once

#include <atomic>

// Set by the first Ctrl-C while an Interruptible exists; the second one exits immediately.
const std::atomic<bool>& interrupted();

// While it exists, Ctrl-C requests a clean stop instead of terminating the program.
class Interruptible {
 public:
  Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();
};
