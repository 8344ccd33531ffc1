#include "cli/run_progress.h"

#include <iomanip>
#include <iostream>
#include <sstream>
#include <unistd.h>

namespace {

bool live() { return ::isatty(STDERR_FILENO) != 0; }

std::string duration(double seconds) {
  std::ostringstream text;
  if (seconds < 100) {
    text << std::lround(seconds) << " s";
  } else {
    text << std::lround(seconds / 60) << " min";
  }
  return text.str();
}

}  // namespace

void RunLine::show(const lase::RunProgress& progress) {
  if (progress.done == progress.found && progress.found > 0 && next_ == 0) {
    std::cerr << "  " << progress.found << " of " << progress.runs << " runs were made before\n";
  }
  if (!live()) {
    if (progress.seconds < next_ && progress.done < progress.runs) return;
    next_ = progress.seconds + 60;
  }
  std::ostringstream line;
  line << "  " << progress.done << "/" << progress.runs << " runs, " << duration(progress.seconds);
  if (progress.left > 0 && progress.done < progress.runs) {
    line << ", about " << duration(progress.left) << " left";
  }
  if (!progress.label.empty()) line << "  (" << progress.label << ")";
  std::cerr << (live() ? "\r\x1b[K" : "") << line.str() << (live() ? "" : "\n") << std::flush;
}

void RunLine::clear() {
  next_ = 0;
  if (live()) std::cerr << "\r\x1b[K" << std::flush;
}
