#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace lase {

inline constexpr char32_t kReplacement = 0xFFFD;

// A UTF-8 character and its length in bytes.
struct Character {
  char32_t code = 0;
  size_t bytes = 1;

  // False for an invalid byte, true for U+FFFD encoded in the text.
  constexpr bool valid() const { return code != kReplacement || bytes > 1; }
};

// The first character of a non-empty text. An invalid byte is returned alone, as U+FFFD: truncated
// and overlong sequences, surrogates, noncharacters.
constexpr Character first_character(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {.code = lead};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {.code = kReplacement};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {.code = kReplacement};
    code = (code << 6) | (byte(i) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool invalid = (code & 0xFFFEU) == 0xFFFE || code > 0x10FFFF || code < kSmallest[bytes];
  if (surrogate || invalid) return {.code = kReplacement};
  return {.code = code, .bytes = bytes};
}

// Calls use(character, bytes) for each character in order.
template <class Use>
constexpr void for_each_character(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const Character character = first_character(text);
    use(character, text.substr(0, character.bytes));
    text.remove_prefix(character.bytes);
  }
}

constexpr bool is_utf8(std::string_view text) {
  bool valid = true;
  for_each_character(
      text, [&](Character character, std::string_view) { valid = valid && character.valid(); });
  return valid;
}

}  // namespace lase
