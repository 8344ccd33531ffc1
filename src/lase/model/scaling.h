#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

#include "lase/base/names.h"
#include "lase/graph/graph.h"

namespace lase {

enum class NodeScaling : uint8_t { kStandard, kRow, kNone };

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<NodeScaling> = {"standard", "row",
                                                                            "none"};

// How raw attributes become what a model reads; fitted on training data and kept with the model.
struct Scaling {
  NodeScaling nodes = NodeScaling::kStandard;
  at::Tensor node_mean;   // [d]
  at::Tensor node_scale;  // [d]
  at::Tensor link_mean;   // [k]
  at::Tensor link_scale;  // [k]
};

// Standardises dense and coded columns on training nodes and on links between them; sparse columns
// are left as they are, since a shift would make them dense. A column that never varies is left
// too.
Scaling fit_scaling(const Graph& graph, const std::vector<bool>& training, NodeScaling nodes);

}  // namespace lase
