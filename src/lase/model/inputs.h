#pragma once

#include <ATen/core/Tensor.h>
#include <string_view>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/model/layer.h"
#include "lase/model/scaling.h"
#include "lase/ops/attribute_product.h"

namespace lase {

// Features for a graph that has none: a constant and ln(1 + |N(u)|).
Attributes degree_features(const Graph& graph);
// The same if links are predicted: the degree would count the links to be predicted.
Attributes constant_feature(int64_t nodes);

// kAhead scales the features of all nodes once, which pays off if they are read many times;
// kOnDemand scales only the requested rows.
enum class ScaleWhen : uint8_t { kAhead, kOnDemand };

// The scaled attributes of a graph.
class Inputs {
 public:
  Inputs(const Graph& graph, const Scaling& scaling, ScaleWhen when = ScaleWhen::kAhead);

  int64_t node_features() const { return features_.columns; }
  const at::Device& device() const { return device_; }
  // Copies the inputs to a device; tensors that are already there are shared.
  Inputs to(const at::Device& device) const;
  // Whether rows() avoids a copy.
  bool in_place() const { return matrix_.defined(); }
  const LinkAttributes& links() const { return links_; }
  // Attributes of the graph's target links.
  const LinkAttributes& targets() const { return targets_; }

  // f(u) of `nodes`, int64 [n] on the same device; of all nodes if undefined.
  ops::Rows rows(const at::Tensor& nodes) const;
  // W dropout(f(u)): [n, width], without making sparse features dense.
  at::Tensor projected(const at::Tensor& nodes, const at::Tensor& w,
                       const ops::Dropout& dropout = {}) const;

 private:
  at::Tensor all_nodes() const;

  at::Device device_ = at::kCPU;
  Scaling scaling_;
  ops::AttributeTensors features_;
  at::Tensor matrix_;  // scaled f [nodes, d]; undefined if sparse or on demand
  LinkAttributes links_;
  LinkAttributes targets_;
};

}  // namespace lase
