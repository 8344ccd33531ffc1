#pragma once

#include <ATen/core/Tensor.h>
#include <string_view>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/model/layer.h"
#include "lase/model/residence.h"
#include "lase/model/scaling.h"
#include "lase/ops/attribute_product.h"
#include "lase/ops/cached_rows.h"

namespace lase {

// Features for a graph that has none: a constant and ln(1 + |N(u)|).
Attributes degree_features(const Graph& graph);
// The same if links are predicted: the degree would count the links to be predicted.
Attributes constant_feature(int64_t nodes);

// kAhead scales the features of all nodes once, which pays off if they are read many times;
// kOnDemand scales only the requested rows.
enum class ScaleWhen : uint8_t { kAhead, kOnDemand };

// The scaled attributes of a graph.
//
// If known labels are among the features, the matrix of features has a second row for every node
// with a known label, without it. hiding() selects the row to read, so that no row is copied.
class Inputs {
 public:
  Inputs(const Graph& graph, const Scaling& scaling, ScaleWhen when = ScaleWhen::kAhead);

  // The nodes whose labels are known, ascending.
  const std::vector<int64_t>& labeled() const { return labeled_; }
  // The same inputs without the labels of some nodes: bool [nodes] on the same device. Undefined:
  // with all known labels.
  Inputs hiding(const at::Tensor& nodes) const;

  int64_t nodes() const { return nodes_; }
  int64_t node_features() const { return features_.columns; }
  const at::Device& device() const { return device_; }
  // Copies the inputs of a graph to a device, except for what does not fit into `bytes` together
  // with the adjacency.
  Inputs to(const at::Device& device, const Adjacency& graph, int64_t bytes) const;
  const Residence& residence() const { return residence_; }
  // Bytes of the node features and of the link attributes on a GPU.
  int64_t feature_bytes() const;
  int64_t link_bytes() const { return links_.f.bytes(); }
  // Whether features are scaled and dense, and whether rows() avoids a copy, too.
  bool dense() const { return matrix_.defined(); }
  bool in_place() const { return dense() && residence_.features; }
  const LinkAttributes& links() const { return links_; }
  // The block of a batch, and the attributes of its links; those in memory of the CPU are copied to
  // the GPU.
  struct BlockLinks {
    Block block;
    LinkAttributes links;
  };
  BlockLinks links_of(const Block& block) const;
  // Attributes of the graph's target links.
  const LinkAttributes& targets() const { return targets_; }

  // f(u) of `nodes`, int64 [n] on the same device; of all nodes if undefined.
  ops::Rows rows(const at::Tensor& nodes) const;
  // W dropout(f(u)): [n, width], without making sparse features dense.
  at::Tensor projected(const at::Tensor& nodes, const at::Tensor& w,
                       const ops::Dropout& dropout = {}) const;

 private:
  // The rows of the matrix of features for `nodes`; undefined for the first rows of all nodes.
  at::Tensor rows_of(const at::Tensor& nodes) const;
  at::Tensor all_nodes() const;

  at::Device device_ = at::kCPU;
  Scaling scaling_;
  int64_t nodes_ = 0;
  std::vector<int64_t> labeled_;  // node labeled_[i] without its label: row nodes_ + i
  at::Tensor without_label_;      // int64 [nodes]: row of a node without its label
  at::Tensor hidden_;             // bool [nodes]: without labels; undefined: none
  ops::AttributeTensors features_;
  at::Tensor matrix_;  // scaled f [nodes, d]; undefined if sparse or on demand
  Residence residence_;
  ops::CachedRows cached_;  // of the matrix, if it is in memory of the CPU
  LinkAttributes links_;
  LinkAttributes targets_;
};

}  // namespace lase
