#pragma once

#include <string>
#include <string_view>

namespace lase {

// Escapes text for XML and HTML content and attributes. Control characters become spaces; invalid
// UTF-8 becomes U+FFFD.
std::string escaped(std::string_view text);

}  // namespace lase
