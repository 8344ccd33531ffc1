#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lase/graph/labels.h"
#include "lase/ingest/table.h"

namespace lase {

// Labels and splits in the columns of a table, of nodes or of links.

// A regression target; NaN if it is missing.
float target_in(const Row& row, int64_t column);
// A value of Split.
uint8_t split_in(const Row& row, int64_t column);

// Throws Error if more than one of these options is given.
void require_one_of(std::initializer_list<std::pair<std::string_view, bool>> given);
// Throws Error if a split looks like percentages but is neither these nor a column.
void require_split(std::string_view option, const std::string& split, const Table& table);

// Warnings of class names that are probably mistakes.
std::vector<std::string> label_warnings(const Labels& labels);

}  // namespace lase
