#pragma once

#include <cstdint>

#include "lase/base/array.h"
#include "lase/base/attributes.h"
#include "lase/base/string_table.h"
#include "lase/graph/labels.h"

namespace lase {

// Links as prediction targets: the rows of a table of links, before links between the same nodes
// are merged, so that each row has its own label and prediction. Dropped rows, such as self-loops,
// are not targets.
struct LinkTargets {
  Array<int32_t> source;        // [n]
  Array<int32_t> target;        // [n]
  Attributes attributes;        // of each row, without those that its label determines: [n, k]
  StringTable attribute_names;  // [k]
  Labels labels;                // [n]; Task::kNone: none, the links themselves are to be predicted
  Array<uint8_t> split;         // [n]: values of Split; kNone: not a target. Empty: no split
  bool relations = false;       // the attributes of a row are its relation, one-hot encoded
  bool derived = false;         // not imported: every link of the graph, once

  int64_t size() const { return source.size(); }
};

}  // namespace lase
