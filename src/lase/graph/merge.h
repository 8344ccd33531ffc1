#pragma once

#include <cstdint>
#include <span>

#include "lase/base/array.h"
#include "lase/base/attributes.h"
#include "lase/graph/arcs.h"
#include "lase/graph/raw_graph.h"

namespace lase {

// Maps raw links to links.
struct LinkGroups {
  // [raw links]: the row of link attributes that the raw link contributes to; −1 if it is dropped.
  // Links are numbered by first appearance.
  Buffer<int64_t> row;
  int64_t links = 0;
  int64_t self_loops = 0;
  int64_t merged = 0;

  int64_t rows(bool separate_directions) const { return separate_directions ? 2 * links : links; }
};

// Groups raw links between the same nodes, whose arcs are adjacent in sorted order.
LinkGroups group_links(const RawGraph& raw, const SortedArcs& arcs);

// Merged attributes: [links, raw columns], or [2 links, 2 × raw columns] if directions are separate
// (see Graph).
Attributes merge_attributes(RawGraph& raw, const LinkGroups& groups);

// Converts attributes to the layout that the rule selects.
Attributes choose_layout(Attributes matrix, LayoutRule rule);

}  // namespace lase
