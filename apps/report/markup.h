#pragma once

#include <string>
#include <string_view>

namespace lase {

// For text and attributes of XML and HTML. Control characters become spaces, and what is not UTF-8
// U+FFFD.
std::string escaped(std::string_view text);

}  // namespace lase
