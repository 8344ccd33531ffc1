#pragma once

#include <cstdint>
#include <span>

#include "lase/base/array.h"
#include "lase/base/attributes.h"
#include "lase/graph/raw_graph.h"

namespace lase {

// Which link each raw link became.
struct LinkGroups {
  // [raw links] The link's number, or 2 link + (1 where it leads from the higher node) where
  // directional; −1 where dropped. Numbers ascend at first appearance.
  Buffer<int32_t> row;
  Buffer<int32_t> source;  // [links], those of the first raw link
  Buffer<int32_t> target;
  int64_t self_loops = 0;
  int64_t merged = 0;
};

// Finds raw links between the same nodes and numbers the groups by first appearance. Takes the
// raw graph's ends, to reuse their storage.
LinkGroups group_links(RawGraph& raw);

// The attributes of the groups: [links, k], or [2 links, 2k] where directional (see Graph).
Attributes merge_attributes(RawGraph& raw, const LinkGroups& groups);

// The same attributes in the layout that the rule asks for.
Attributes choose_layout(Attributes matrix, LayoutRule rule);

}  // namespace lase
