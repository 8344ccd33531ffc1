#pragma once

#include <string>

namespace lase {

bool has_browser();

// A page after its scripts have run.
struct LoadedPage {
  int status = -1;  // of the browser
  std::string dom;
  std::string log;  // messages of the page contain "CONSOLE"
};
// Writes the page to a folder and loads it in a browser.
LoadedPage load_page(const std::string& folder, const std::string& page);

}  // namespace lase
