#include "lase/model/layer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace lase {

using at::Tensor;

State Layer::forward(const LayerInput& in) const {
  const auto parts = sums(in);
  std::vector<Tensor> s;
  for (const auto& part : parts) s.push_back(ops::gated_sum(part, in.block));
  return update(in, parts, s);
}

State Layer::forward(const LayerInput& in, const Layer& baseline_layer,
                     const BaselineLayer& baseline) const {
  const auto parts = sums(in);
  return update(in, parts, estimate(parts, in, baseline_layer, baseline));
}

std::vector<Tensor> Layer::estimate(const std::vector<ops::GatedSumInput>& parts,
                                    const LayerInput& in, const Layer& baseline_layer,
                                    const BaselineLayer& baseline) const {
  std::vector<ops::GatedSumInput> previous;
  {
    c10::NoGradGuard no_grad;
    previous = baseline_layer.sums({baseline.state, in.block, in.links, {}});
  }
  std::vector<Tensor> s;
  for (size_t i = 0; i < parts.size(); ++i) {
    s.push_back(ops::gated_change(parts[i], previous[i], in.block).add_(baseline.sums[i]));
  }
  if (const auto z = normalizer()) {
    constexpr double kLeast = 0.5;  // of the exact baseline
    const Tensor least = kLeast * baseline.sums[z->sum].select(1, z->column);
    s[z->sum].select(1, z->column).clamp_min_(least);
  }
  return s;
}

}  // namespace lase
