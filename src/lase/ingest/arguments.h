#pragma once

#include <string>
#include <vector>

#include "lase/ingest/format.h"

namespace lase {

// Reads files as `lase import FORMAT ARGUMENTS…` does, for programs: read_format("contacts",
// {"mails.txt.gz", "--slices", "32", "--directional"}). `like` may be null.
RawGraph read_format(const std::string& format, const std::vector<std::string>& arguments,
                     const Like* like = nullptr);

}  // namespace lase
