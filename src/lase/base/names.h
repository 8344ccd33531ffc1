#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "lase/base/error.h"

namespace lase {

// The words for the enumerators of an enumeration, in their order: one specialization each, used by
// flags, files and messages.
//
//   template <>
//   inline constexpr std::array<std::string_view, 2> kEnumNames<Draw> = {"replace", "without"};
template <class Enum>
inline constexpr std::nullptr_t kEnumNames = nullptr;

template <class Enum>
concept Named =
    std::is_enum_v<Enum> && !std::is_same_v<decltype(kEnumNames<Enum>), const std::nullptr_t>;

template <class Enum, size_t n>
std::string_view name_in(const std::array<std::string_view, n>& names, Enum value) {
  return names.at(static_cast<size_t>(value));
}

template <Named Enum>
std::string_view name_of(Enum value) {
  return name_in(kEnumNames<Enum>, value);
}

// The enumerator whose name this is; the names stand in the order of the enumerators.
template <class Enum, size_t n>
Enum value_named(std::string_view name, const std::array<std::string_view, n>& names,
                 std::string_view what) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  fail("there is no ", what, " called ", quote(name));
}

}  // namespace lase
