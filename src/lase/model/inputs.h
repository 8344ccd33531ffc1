#pragma once

#include <ATen/core/Tensor.h>
#include <string_view>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/model/layer.h"
#include "lase/model/scaling.h"
#include "lase/ops/attribute_product.h"

namespace lase {

// Features of a graph that has none: a constant and ln(1 + |N(u)|).
Attributes degree_features(const Graph& graph);

// The attributes of a graph as a model reads them. kAhead scales the features of all nodes once,
// for those who read them many times; kOnDemand only those that are asked for.
enum class ScaleWhen : uint8_t { kAhead, kOnDemand };
class Inputs {
 public:
  Inputs(const Graph& graph, const Scaling& scaling, ScaleWhen when = ScaleWhen::kAhead);

  int64_t node_features() const { return features_.columns; }
  // The same on another device; itself where it is there already.
  Inputs to(const at::Device& device) const;
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
