#include <ATen/ATen.h>

#include "lase/ops/cpu/cpu.h"

namespace lase::ops::cpu {

using at::Tensor;

Tensor cached_rows(const Tensor& matrix, const MaybeTensor& cache, const MaybeTensor& slot,
                   const Tensor& index) {
  Tensor rows = matrix.index_select(0, index);
  if (!cache.has_value()) return rows;
  const Tensor slots = slot->index_select(0, index);
  const Tensor cached = slots.ge(0).nonzero().squeeze(1);
  return rows.index_copy_(0, cached, cache->index_select(0, slots.index_select(0, cached)));
}

}  // namespace lase::ops::cpu
