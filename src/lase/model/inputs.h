#pragma once

#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/model/layer.h"
#include "lase/ops/attribute_product.h"

namespace lase {

enum class NodeScaling : uint8_t { kStandard, kRow, kNone };

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

// Features of a graph that has none: a constant and ln(1 + |N(u)|).
Attributes degree_features(const Graph& graph);

// The attributes of a graph as a model reads them. kAhead scales the features of all nodes once,
// for those who read them many times; kOnDemand only those that are asked for.
enum class ScaleWhen : uint8_t { kAhead, kOnDemand };
class Inputs {
 public:
  Inputs(const Graph& graph, const Scaling& scaling, ScaleWhen when = ScaleWhen::kAhead);

  int64_t node_features() const { return features_.columns; }
  // Whether rows() copies nothing.
  bool in_place() const { return matrix_.defined(); }
  const LinkAttributes& links() const { return links_; }

  // f(u) of the nodes, int64 [n]; of all nodes where undefined.
  ops::Rows rows(const at::Tensor& nodes) const;
  // W f(u): [n, width], without making sparse features dense.
  at::Tensor projected(const at::Tensor& nodes, const at::Tensor& w) const;

 private:
  Scaling scaling_;
  ops::AttributeTensors features_;
  at::Tensor matrix_;  // f [nodes, d] as models read it; undefined where sparse or on demand
  LinkAttributes links_;
};

}  // namespace lase
