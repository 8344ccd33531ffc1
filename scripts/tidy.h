// Included first by scripts/check_tidy, and by tests that clang compiles. clang 14 lacks the
// built-in function that std::source_location needs.
#pragma once

#include <cstdint>
#include <source_location>

#ifndef __cpp_lib_source_location
namespace std {
class source_location {
 public:
  static constexpr source_location current(uint_least32_t line = __builtin_LINE(),
                                           const char* file = __builtin_FILE(),
                                           const char* function = __builtin_FUNCTION()) {
    source_location here;
    here.line_ = line;
    here.file_ = file;
    here.function_ = function;
    return here;
  }
  constexpr uint_least32_t line() const { return line_; }
  constexpr const char* file_name() const { return file_; }
  constexpr const char* function_name() const { return function_; }

 private:
  uint_least32_t line_ = 0;
  const char* file_ = "";
  const char* function_ = "";
};
}  // namespace std
#endif
