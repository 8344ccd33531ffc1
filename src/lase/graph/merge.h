#pragma once

#include <cstdint>
#include <span>

#include "lase/base/array.h"
#include "lase/base/attributes.h"
#include "lase/graph/arcs.h"
#include "lase/graph/raw_graph.h"

namespace lase {

// Which link each raw link became.
struct LinkGroups {
  // [raw links]: the row of link attributes that the raw link adds to; −1 where it is dropped.
  // Links are numbered by first appearance.
  Buffer<int64_t> row;
  int64_t links = 0;
  int64_t self_loops = 0;
  int64_t merged = 0;

  int64_t rows(bool directional) const { return directional ? 2 * links : links; }
};

// Finds raw links between the same nodes, which lie side by side among their arcs, and numbers the
// groups.
LinkGroups group_links(const RawGraph& raw, const SortedArcs& arcs);

// The attributes of the groups: [links, k], or [2 links, 2k] where directional (see Graph).
Attributes merge_attributes(RawGraph& raw, const LinkGroups& groups);

// The same attributes in the layout that the rule asks for.
Attributes choose_layout(Attributes matrix, LayoutRule rule);

}  // namespace lase
