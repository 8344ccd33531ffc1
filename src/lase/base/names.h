#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

#include "lase/base/error.h"

namespace lase {

// The names of an enumeration's values, in order, used by flags, files and messages. Each
// enumeration specializes it:
//
//   template <>
//   inline constexpr std::array<std::string_view, 2> kEnumNames<Replacement> = {"with", "without"};
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

// The enumerator with this name; nullopt if there is none.
template <Named Enum>
std::optional<Enum> from_name(std::string_view name) {
  for (size_t i = 0; i < kEnumNames<Enum>.size(); ++i) {
    if (kEnumNames<Enum>[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// The enumerator called `name`; `names` lists the enumerators in order.
template <class Enum, size_t n>
Enum value_named(std::string_view name, const std::array<std::string_view, n>& names,
                 std::string_view what) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  fail("unknown ", what, " ", quote(name));
}

}  // namespace lase
