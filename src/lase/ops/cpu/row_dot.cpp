#include <ATen/ATen.h>

#include "lase/kernels/kernels.h"
#include "lase/ops/cpu/cpu.h"
#include "lase/ops/workspace.h"

namespace lase::ops::cpu {

using at::Tensor;

namespace {

const int64_t* pointer(const MaybeTensor& index) {
  return index.has_value() && index->defined() ? index->data_ptr<int64_t>() : nullptr;
}

int64_t count(const Tensor& x, const MaybeTensor& index) {
  return index.has_value() && index->defined() ? index->size(0) : x.size(0);
}

}  // namespace

Tensor row_dot(const Tensor& x, const MaybeTensor& index, const Tensor& v) {
  const int64_t n = count(x, index);
  Tensor y = ops::empty({n});
  kernels::dot_rows(x.data_ptr<float>(), pointer(index), n, x.size(1), v.data_ptr<float>(),
                    y.data_ptr<float>());
  return y;
}

Tensor row_dot_backward(const Tensor& g, const Tensor& x, const MaybeTensor& index) {
  Tensor dv = at::empty({x.size(1)}, at::kFloat);
  kernels::sum_rows(x.data_ptr<float>(), pointer(index), count(x, index), x.size(1),
                    g.data_ptr<float>(), dv.data_ptr<float>());
  return dv;
}

}  // namespace lase::ops::cpu
