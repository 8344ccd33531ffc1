#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lase/base/string_table.h"

namespace lase {

// Writes one row of values per name, [names, width], to a .npy file, or to a CSV file with the
// columns node, e0, e1, …
void write_rows(const StringTable& names, std::span<const float> values, const std::string& path);
// The same for rows that are made a few at a time: rows(first, last) are those from `first` to
// `last`, or none, which leaves them out.
void write_rows(const StringTable& names, int64_t columns,
                const std::function<std::vector<float>(int64_t first, int64_t last)>& rows,
                const std::string& path);

}  // namespace lase
