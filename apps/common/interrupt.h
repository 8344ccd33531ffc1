#pragma once

#include <atomic>

// Set by the first Ctrl-C while an Interruptible lives; the second one ends the program.
const std::atomic<bool>& interrupted();

// While it lives, Ctrl-C asks for an end instead of making one.
class Interruptible {
 public:
  Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();
};
