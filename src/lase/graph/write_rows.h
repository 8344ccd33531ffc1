#pragma once

#include <span>
#include <string>

#include "lase/base/string_table.h"

namespace lase {

// Writes one row of values per name, [names, width], to a .npy file, or to a CSV file with the
// columns node, e0, e1, …
void write_rows(const StringTable& names, std::span<const float> values, const std::string& path);

}  // namespace lase
