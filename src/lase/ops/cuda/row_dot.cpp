#include <ATen/ATen.h>

#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"
#include "lase/ops/cuda/rows.h"

namespace lase::ops::cuda {

using at::Tensor;

Tensor row_dot(const Tensor& x, const MaybeTensor& index, const Tensor& v) {
  LaunchScope scope(x);
  const Rows rows{x, tensor_of(index)};
  Tensor y = at::empty({rows.size()}, x.options());
  kernels::cuda::dot_rows(rows_of<float>(rows), v.data_ptr<float>(), y.data_ptr<float>(),
                          scope.launch());
  return y;
}

Tensor row_dot_backward(const Tensor& g, const Tensor& x, const MaybeTensor& index) {
  LaunchScope scope(x);
  const Rows rows{x, tensor_of(index)};
  Tensor dv = at::empty({rows.width()}, x.options());
  kernels::cuda::sum_rows(rows_of<float>(rows), g.data_ptr<float>(), dv.data_ptr<float>(),
                          scope.launch());
  return dv;
}

}  // namespace lase::ops::cuda
