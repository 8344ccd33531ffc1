#include <ATen/ATen.h>

#include "lase/ops/cpu/cpu.h"

namespace lase::ops::cpu {

using at::Tensor;

// Counting sort: the arcs of each target in the order in which they are given.
ThreeTensors arcs_by_target(const Tensor& source, const Tensor& target, int64_t sources,
                            int64_t targets) {
  const Tensor from = source.contiguous();
  const Tensor to = target.contiguous();
  TORCH_CHECK(from.scalar_type() == at::kLong && to.scalar_type() == at::kLong && from.dim() == 1 &&
                  from.sizes() == to.sizes(),
              "edge_index: expected integers (int64) of shape [2, links]");
  const int64_t arcs = from.size(0);
  const auto* v = from.data_ptr<int64_t>();
  const auto* u = to.data_ptr<int64_t>();
  Tensor row_ptr = at::zeros({targets + 1}, at::kLong);
  auto* start = row_ptr.data_ptr<int64_t>();
  for (int64_t i = 0; i < arcs; ++i) {
    TORCH_CHECK_INDEX(u[i] >= 0 && u[i] < targets && v[i] >= 0 && v[i] < sources,
                      "edge_index: link ", i, " leads from node ", v[i], " to ", u[i],
                      ", but there are ", sources, " source and ", targets, " target nodes");
    ++start[u[i] + 1];
  }
  for (int64_t row = 0; row < targets; ++row) start[row + 1] += start[row];
  Tensor by_target = at::empty({arcs}, at::kInt);
  Tensor link = at::empty({arcs}, at::kLong);
  auto* neighbor = by_target.data_ptr<int32_t>();
  auto* at_link = link.data_ptr<int64_t>();
  std::vector<int64_t> next(start, start + targets);
  for (int64_t i = 0; i < arcs; ++i) {
    const int64_t place = next[static_cast<size_t>(u[i])]++;
    neighbor[place] = static_cast<int32_t>(v[i]);
    at_link[place] = i;
  }
  return {row_ptr, by_target, link};
}

}  // namespace lase::ops::cpu
