#include <ATen/ATen.h>

#include "lase/ops/cuda/cuda.h"

namespace lase::ops::cuda {

using at::Tensor;

// A stable sort: the arcs of each target in the order in which they are given.
ThreeTensors arcs_by_target(const Tensor& source, const Tensor& target, int64_t sources,
                            int64_t targets) {
  TORCH_CHECK(source.scalar_type() == at::kLong && target.scalar_type() == at::kLong &&
                  source.dim() == 1 && source.sizes() == target.sizes(),
              "edge_index: expected integers (int64) of shape [2, links]");
  const auto in_range = [](const Tensor& nodes, int64_t count) {
    return nodes.numel() == 0 || nodes.ge(0).logical_and(nodes.lt(count)).all().item<bool>();
  };
  if (!in_range(source, sources) || !in_range(target, targets)) {
    return cpu::arcs_by_target(source.cpu(), target.cpu(), sources, targets);  // names the link
  }
  const auto [sorted, link] = at::sort(target, /*stable=*/true, 0, /*descending=*/false);
  const Tensor row_ptr = at::searchsorted(sorted, at::arange(targets + 1, target.options()));
  return {row_ptr, source.index_select(0, link).to(at::kInt), link};
}

}  // namespace lase::ops::cuda
