#pragma once

#include <ATen/core/Tensor.h>
#include <span>
#include <vector>

#include "lase/base/process_group.h"
#include "lase/graph/graph.h"
#include "lase/model/description.h"
#include "lase/model/options.h"

namespace lase {

// Scaling of raw attributes, fitted on training data and stored with the model.
struct Scaling {
  NodeScaling nodes = NodeScaling::kStandard;  // not kAuto
  AddedColumns added = {};
  at::Tensor node_mean;         // [d]
  at::Tensor node_scale;        // [d]
  at::Tensor link_mean;         // [k]
  at::Tensor link_scale;        // [k]
  at::Tensor target_mean = {};  // of the attributes of target links; undefined: none
  at::Tensor target_scale = {};
};

// Standardizes dense and dictionary-encoded columns by the training nodes and the links of `graph`,
// which should be those that training uses. Sparse columns are not shifted, which would make them
// dense; of links, those with large values are divided by their root mean square. Constant columns
// stay unscaled, except that those of links that are always 0 get a scale of 0: they are ignored.
//
// kL2 divides the features of each node by their L2 norm, except for learned ones, which are scaled
// to a root mean square length of 2. Known labels are never scaled.
//
// `processes`: those that have the other rows of a partitioned graph; null: these are all rows.
Scaling fit_scaling(const Graph& graph, const std::vector<bool>& training, NodeScaling nodes,
                    const AddedColumns& added = {}, ProcessGroup* processes = nullptr);
// Adds the scaling of the attributes of target links, by the links that are training targets.
void fit_target_scaling(const LinkTargets& targets, std::span<const int64_t> training,
                        Scaling& scaling);

}  // namespace lase
