#include <ATen/ATen.h>

#include "lase/kernels/cuda/rows.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"
#include "lase/ops/cuda/rows.h"

namespace lase::ops::cuda {

using at::Tensor;

// Rows of the result are padded.
Tensor cached_rows(const Tensor& matrix, const MaybeTensor& cache, const MaybeTensor& slot,
                   const Tensor& index) {
  if (matrix.scalar_type() != at::kFloat) return cpu::cached_rows(matrix, cache, slot, index);
  LaunchScope scope(index);
  const int64_t d = matrix.size(1);
  const int64_t width = padded_width(d);
  const Tensor rows = at::empty({index.size(0), width}, matrix.options());
  kernels::cuda::CacheOfRows cached;
  if (cache.has_value()) {
    cached = {.h = cache->data_ptr<float>(),
              .stride = cache->stride(0),
              .slot = slot->data_ptr<int32_t>()};
  }
  kernels::cuda::copy_rows(rows_of<float>({matrix, index}), cached, rows.data_ptr<float>(), width,
                           scope.launch());
  return rows.narrow(1, 0, d);
}

}  // namespace lase::ops::cuda
