#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace lase {

// A non-negative integer that fits in int64, or nullopt. nlohmann's own conversion also accepts
// fractions and out-of-range numbers, for which the cast is undefined behavior.
inline std::optional<int64_t> non_negative_integer(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return number <= kMost ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
  }
  if (!value.is_number_integer() || value.get<int64_t>() < 0) return std::nullopt;
  return value.get<int64_t>();
}

// The non-negative integer at `key`, or −1 if there is none.
inline int64_t non_negative_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? -1 : non_negative_integer(*found).value_or(-1);
}

}  // namespace lase
