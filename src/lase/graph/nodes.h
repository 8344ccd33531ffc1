#pragma once

#include <cstdint>

#include "lase/base/array.h"
#include "lase/base/attributes.h"
#include "lase/base/string_table.h"
#include "lase/graph/labels.h"

namespace lase {

struct Nodes {
  StringTable names;  // [n]
  Attributes features;
  StringTable feature_names;  // empty or [features.columns]
  Labels labels;
  Array<uint8_t> split;  // [n]: values of Split, or empty
};

// Adds columns after those that the nodes have.
void append_features(Nodes& nodes, const Attributes& columns, const StringTable& names);

}  // namespace lase
