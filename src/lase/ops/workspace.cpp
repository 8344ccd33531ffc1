#include "lase/ops/workspace.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace lase::ops {

using at::Tensor;

Tensor empty(at::IntArrayRef shape, const at::TensorOptions& options) {
  if (!options.device().is_cpu()) return at::empty(shape, options);
  const at::ScalarType type = c10::typeMetaToScalarType(options.dtype());
  int64_t bytes = static_cast<int64_t>(at::elementSize(type));
  for (const int64_t n : shape) bytes *= n;
  if (bytes < kLargeBuffer) return at::empty(shape, type);
  auto memory = workspace_memory(bytes);
  void* data = memory.get();
  return at::from_blob(
      data, shape, [memory = std::move(memory)](void*) mutable { memory.reset(); }, type);
}

Tensor empty_like(const Tensor& tensor) { return empty(tensor.sizes(), tensor.options()); }

Tensor gather(const Tensor& matrix, const Tensor& index) {
  const c10::NoGradGuard no_grad;
  if (matrix.dim() != 2) return matrix.index_select(0, index);
  Tensor rows = empty({index.size(0), matrix.size(1)}, matrix.options());
  return at::index_select_out(rows, matrix, 0, index);
}

}  // namespace lase::ops
