#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lase {

// For text and attributes of XML and HTML. Control characters become spaces, and what is not UTF-8
// U+FFFD.
std::string escaped(std::string_view text);

struct Character {
  char32_t code = 0;
  size_t bytes = 1;
};

// The character at the start of a text that is not empty; a byte that begins none counts alone, as
// U+FFFD.
Character first_character(std::string_view text);

template <class Use>
void for_each_character(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const Character character = first_character(text);
    use(character, text.substr(0, character.bytes));
    text.remove_prefix(character.bytes);
  }
}

}  // namespace lase
