#include "report/markup.h"

#include "lase/base/utf8.h"

namespace lase {

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
