#pragma once

#include <functional>
#include <vector>

#include "lase/inference/inference.h"
#include "lase/model/inputs.h"

namespace lase {

// Outputs of all nodes, of which none may depend on the node's own label. Nodes without a known
// label see all labels, in the first pass. The others are divided at random into two halves; each
// is computed in a pass of its own, which hides the labels of that half. Without label inputs,
// there is one pass.
class LabelPasses {
 public:
  explicit LabelPasses(Inputs inputs);

  int64_t count() const { return static_cast<int64_t>(inputs_.size()); }
  const Inputs& inputs(int64_t pass) const { return inputs_[static_cast<size_t>(pass)]; }
  // The pass that computes a node.
  int64_t of(int64_t node) const;
  // The outputs of all nodes from those of each pass.
  Outputs outputs(const std::function<Outputs(const Inputs& inputs)>& infer) const;

 private:
  std::vector<Inputs> inputs_;
  std::vector<std::vector<int64_t>> nodes_;  // computed by each pass but the first, ascending
};

}  // namespace lase
