#include "cli/run_progress.h"

#include <iostream>
#include <sstream>
#include <unistd.h>

#include "lase/base/format.h"

namespace {

bool live() { return ::isatty(STDERR_FILENO) != 0; }

}  // namespace

void RunLine::show(const lase::RunProgress& progress) {
  if (progress.done == progress.found && progress.found > 0 && next_ == 0) {
    std::cerr << "  " << progress.found << " of " << progress.runs << " runs were already done\n";
  }
  if (!live()) {
    if (progress.seconds < next_ && progress.done < progress.runs) return;
    next_ = progress.seconds + 60;
  }
  std::ostringstream line;
  line << "  " << progress.done << "/" << progress.runs << " runs, "
       << lase::duration(progress.seconds);
  if (progress.left > 0 && progress.done < progress.runs) {
    line << ", about " << lase::duration(progress.left) << " left";
  }
  if (!progress.label.empty()) line << "  (" << progress.label << ")";
  std::cerr << (live() ? "\r\x1b[K" : "") << line.str() << (live() ? "" : "\n") << std::flush;
}

void RunLine::clear() {
  next_ = 0;
  if (live()) std::cerr << "\r\x1b[K" << std::flush;
}
