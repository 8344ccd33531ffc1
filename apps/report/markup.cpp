#include "report/markup.h"

#include <array>

namespace lase {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {.code = lead};
  const size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {.code = kReplacement};
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {.code = kReplacement};
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool none = (code & 0xFFFEU) == 0xFFFE || code > 0x10FFFF || code < kSmallest[bytes];
  if (surrogate || none) return {.code = kReplacement};
  return {.code = code, .bytes = bytes};
}

std::string escaped(std::string_view text) {
  std::string out;
  for_each_character(text, [&](Character character, std::string_view bytes) {
    switch (character.code) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case kReplacement:
        out += "\xEF\xBF\xBD";
        break;
      default:
        out += character.code < ' ' || character.code == 0x7F ? " " : bytes;
    }
  });
  return out;
}

}  // namespace lase
