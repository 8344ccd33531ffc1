#pragma once

#include <array>
#include <string_view>

#include "lase/base/error.h"

namespace lase {

// The enumerator whose name this is; the names stand in the order of the enumerators.
template <class Enum, size_t n>
Enum value_named(std::string_view name, const std::array<std::string_view, n>& names,
                 std::string_view what) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  fail("there is no ", what, " called ", quote(name));
}

template <class Enum, size_t n>
std::string_view name_in(const std::array<std::string_view, n>& names, Enum value) {
  return names[static_cast<size_t>(value)];
}

}  // namespace lase
