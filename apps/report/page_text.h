#pragma once

#include <string_view>

namespace lase {

// page.html, with @DATA@ where the data belong.
std::string_view page_text();

}  // namespace lase
