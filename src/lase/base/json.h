#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace lase {

// A whole number, not negative, that fits; nothing for any other value. JSON's own conversion takes
// fractions and numbers of any size too, which is undefined where they do not fit.
inline std::optional<int64_t> natural_number(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return number <= kMost ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
  }
  if (!value.is_number_integer() || value.get<int64_t>() < 0) return std::nullopt;
  return value.get<int64_t>();
}

// The natural number at a key, or −1 where there is none.
inline int64_t natural_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? -1 : natural_number(*found).value_or(-1);
}

}  // namespace lase
