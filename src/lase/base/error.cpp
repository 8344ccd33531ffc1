#include "lase/base/error.h"

#include <string_view>

namespace lase {
namespace {

// Length of the UTF-8 character that starts at text[0], or 0 where there is none.
size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80             ? 1
                        : (lead & 0xE0) == 0xC0 ? 2
                        : (lead & 0xF0) == 0xE0 ? 3
                        : (lead & 0xF8) == 0xF0 ? 4
                                                : 0;
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr size_t kLongest = 60;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  while (!text.empty()) {
    if (out.size() > kLongest) {
      out += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(text[0]);
    const size_t length = utf8_length(text);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out + "'";
}

}  // namespace lase
