#pragma once

#include <string_view>

namespace lase {

// page.html; @DATA@ is the placeholder for the data.
std::string_view page_text();

}  // namespace lase
