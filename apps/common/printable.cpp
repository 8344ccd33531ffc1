#include "common/printable.h"

std::string printable(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool ascii_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F;
    const bool other_control = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F
    if (ascii_control || other_control) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      if (other_control) {
        out += {'\\', 'x', kHex[next >> 4], kHex[next & 15]};
        ++i;
      }
    } else {
      out += text[i];
    }
  }
  return out;
}

int PrintableStream::Buffer::overflow(int c) {
  if (c == traits_type::eof()) return traits_type::not_eof(c);
  const char text = traits_type::to_char_type(c);
  return xsputn(&text, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableStream::Buffer::xsputn(const char* text, std::streamsize size) {
  to_ << printable({text, static_cast<size_t>(size)});
  return to_.good() ? size : 0;
}

int PrintableStream::Buffer::sync() { return to_.flush().good() ? 0 : -1; }
