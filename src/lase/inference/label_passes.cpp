#include "lase/inference/label_passes.h"

#include <ATen/ATen.h>
#include <algorithm>

#include "lase/base/random.h"
#include "lase/base/shuffle.h"
#include "lase/ops/device.h"

namespace lase {

using at::Tensor;

namespace {

constexpr uint64_t kHalvesStream = 0x48414C56;

// Sets the rows of some nodes to those of another matrix.
void replace_rows(Tensor& matrix, const Tensor& by, const std::vector<int64_t>& nodes) {
  if (!matrix.defined()) return;
  const Tensor rows = ops::move(index_of(nodes), matrix.device());
  matrix.index_copy_(0, rows, by.index_select(0, rows));
}

}  // namespace

LabelPasses::LabelPasses(Inputs inputs) {
  std::vector<int64_t> labeled = inputs.labeled();
  const int64_t nodes = inputs.nodes();
  inputs_.push_back(std::move(inputs));
  if (labeled.empty()) return;
  Random random(kHalvesStream);
  shuffle(labeled, random);
  const auto middle = labeled.begin() + std::ssize(labeled) / 2;
  for (auto half : {std::vector(labeled.begin(), middle), std::vector(middle, labeled.end())}) {
    std::sort(half.begin(), half.end());
    const Tensor hidden = ops::move(mask_of(half, nodes), inputs_[0].device());
    inputs_.push_back(inputs_[0].hiding(hidden));
    nodes_.push_back(std::move(half));
  }
}

int64_t LabelPasses::of(int64_t node) const {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (std::binary_search(nodes_[i].begin(), nodes_[i].end(), node)) {
      return static_cast<int64_t>(i) + 1;
    }
  }
  return 0;
}

Outputs LabelPasses::outputs(const std::function<Outputs(const Inputs& inputs)>& infer) const {
  Outputs all = infer(inputs_[0]);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Outputs own = infer(inputs_[i + 1]);
    replace_rows(all.embedding, own.embedding, nodes_[i]);
    replace_rows(all.logits, own.logits, nodes_[i]);
  }
  return all;
}

}  // namespace lase
