#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

// The stages within which raw links are merged: [raw links], or empty if there is no split. If
// parallel links are errors, those in different stages are errors, too.
std::span<const uint8_t> merge_stages(const RawGraph& raw);

// Groups raw links between the same nodes in the same stage, whose arcs are adjacent in sorted
// order.
LinkGroups group_links(const RawGraph& raw, const SortedArcs& arcs);

// Merged attributes: [links, raw columns], or [2 links, 2 × raw columns] if directions are separate
// (see Graph).
Attributes merge_attributes(RawGraph& raw, const LinkGroups& groups);

// The rules of all columns.
std::vector<ColumnRule> column_rules(const RawGraph& raw);

// Applies the transform of each column in place. `rules`: [columns].
void transform(Attributes& matrix, const std::vector<ColumnRule>& rules);

// Converts attributes to the layout that the rule selects.
Attributes choose_layout(Attributes matrix, LayoutRule rule);

}  // namespace lase
