#include "report/browser.h"

#include <cstdio>
#include <cstdlib>

#include "lase/base/error.h"
#include "lase/base/file.h"

namespace lase {

bool has_browser() { return std::system("command -v chromium >/dev/null 2>&1") == 0; }

LoadedPage load_page(const std::string& folder, const std::string& page) {
  write_file(folder + "/page.html", page);
  const std::string command =
      "timeout 100 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir=" + folder +
      "/profile --enable-logging=stderr --v=0 --virtual-time-budget=8000 --dump-dom file://" +
      folder + "/page.html 2>" + folder + "/log";
  FILE* pipe = ::popen(command.c_str(), "r");
  require(pipe != nullptr, "cannot start the browser");
  LoadedPage loaded;
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    loaded.dom.append(buffer, n);
  }
  loaded.status = ::pclose(pipe);
  loaded.log = read_file(folder + "/log");
  return loaded;
}

}  // namespace lase
