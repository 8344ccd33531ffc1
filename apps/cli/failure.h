#pragma once

#include <exception>
#include <string>

inline constexpr int kBadInput = 1;
inline constexpr int kBadUsage = 2;
inline constexpr int kInterrupted = 130;

// What an exception means for the user: one sentence, and the exit code.
struct Failure {
  std::string message;
  int code = kBadInput;
};
Failure failure_of(const std::exception& error);

// Ends the program without a message, because it was printed by another process.
struct SilentExit {
  int code;
};
