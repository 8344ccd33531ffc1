#pragma once

#include <cstdint>

#include "lase/base/array.h"
#include "lase/graph/link_targets.h"
#include "lase/graph/merge.h"
#include "lase/graph/raw_graph.h"

namespace lase {

// The stage of each link: [links], or empty if there is no split.
Array<uint8_t> split_of_links(const RawGraph& raw, const LinkGroups& groups);

// The raw links that were not dropped as prediction targets, in order. Their attributes are those
// of single rows, with the transforms and the layout of the link attributes.
LinkTargets make_targets(const RawGraph& raw, const LinkGroups& groups);

}  // namespace lase
