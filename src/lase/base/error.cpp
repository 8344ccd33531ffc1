#include "lase/base/error.h"

#include <cerrno>
#include <cstring>
#include <ostream>

#include "lase/base/utf8.h"

namespace lase {
namespace {

// Delimits option names within a message; never occurs in displayed text.
constexpr char kMark = '\x1f';

std::string with_names(std::string_view message,
                       const std::function<std::string(std::string_view)>& spell) {
  std::string text;
  while (!message.empty()) {
    const size_t first = message.find(kMark);
    const size_t last = first == message.npos ? first : message.find(kMark, first + 1);
    text += message.substr(0, first);
    if (last == message.npos) break;
    text += spell(message.substr(first + 1, last - first - 1));
    message.remove_prefix(last + 1);
  }
  return text;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const OptionName& option) {
  return out << kMark << option.name << kMark;
}

Error::Error(const std::string& message)
    : std::runtime_error(with_names(message, [](auto name) { return std::string(name); })),
      message_(message) {}

std::string Error::spelled(const std::function<std::string(std::string_view)>& spell) const {
  return with_names(message_, spell);
}

FileError::FileError(const std::string& path, std::string_view what, int code)
    : Error(join(path, ": ", what, ": ", std::strerror(code))), code_(code) {}

void require_file(bool holds, const std::string& path, std::string_view what) {
  if (!holds) throw FileError(path, what, errno);
}

std::string quote(std::string_view text) {
  constexpr size_t kLongest = 60;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  while (!text.empty()) {
    if (out.size() > kLongest) {
      out += "...";
      break;
    }
    const Character character = first_character(text);
    if (!character.valid() || character.code < 0x20 || character.code == 0x7F) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return out + "'";
}

}  // namespace lase
