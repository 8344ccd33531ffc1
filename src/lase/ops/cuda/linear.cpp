#include "lase/kernels/cuda/linear.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"
#include "lase/ops/cuda/rows.h"
#include "lase/ops/dropout.h"
#include "lase/ops/precision.h"

namespace lase::ops::cuda {

using at::Tensor;

namespace {

// to [n, d] = from(row_i) ⊙ mask; `to` may be `from.matrix` without an index.
void drop_into(const Rows& from, const Dropout& dropout, const Tensor& to) {
  LaunchScope scope(to);
  AT_DISPATCH_FLOATING_TYPES(to.scalar_type(), "dropout", [&] {
    kernels::cuda::drop_rows(rows_of<scalar_t>(from), {dropout.rate, dropout.key, to.size(1)},
                             dropout.base_pointer(), to.data_ptr<scalar_t>(), scope.launch());
  });
}

// dropout(x): [n, d]
Tensor dropped(const Rows& x, const Dropout& dropout) {
  const Tensor rows = at::empty({x.size(), x.width()}, x.matrix.options());
  drop_into(x, dropout, rows);
  return rows;
}

// Products in double precision are those of torch.
bool has_kernel(const Tensor& x) { return x.scalar_type() == at::kFloat; }

// dropout(x), without copying rows if it is off.
Rows factor(const Rows& x, const Dropout& dropout) {
  return dropout.active() ? Rows{dropped(x, dropout), {}} : x;
}

}  // namespace

Tensor linear(const Tensor& x, const MaybeTensor& index, const Tensor& w, double rate, int64_t key,
              const MaybeTensor& base) {
  const Dropout dropout{rate, static_cast<uint64_t>(key), tensor_of(base)};
  const Rows rows = factor({x, tensor_of(index)}, dropout);
  if (!has_kernel(x)) return at::mm(rows.dense(), w.t());
  LaunchScope scope(x);
  const Tensor weights = w.contiguous();
  const Tensor y = at::empty({rows.size(), w.size(0)}, w.options());
  kernels::cuda::linear(rows_of<float>(rows),
                        {.w = weights.data_ptr<float>(), .m = weights.size(0)},
                        PrecisionScope::current(), y.data_ptr<float>(), scope.launch());
  return y;
}

TwoTensors linear_backward(const Tensor& dy, const Tensor& x, const MaybeTensor& index,
                           const Tensor& w, double rate, int64_t key, const MaybeTensor& base,
                           bool needs_x, bool needs_w) {
  const Dropout dropout{rate, static_cast<uint64_t>(key), tensor_of(base)};
  LaunchScope scope(x);
  Tensor dx;
  Tensor dw;
  if (needs_w) {
    const Rows rows = factor({x, tensor_of(index)}, dropout);
    if (has_kernel(x)) {
      dw = at::empty({w.size(0), rows.width()}, w.options());
      kernels::cuda::linear_dw(dy.data_ptr<float>(), dy.size(1), rows_of<float>(rows),
                               PrecisionScope::current(), dw.data_ptr<float>(), scope.launch());
    } else {
      dw = at::mm(dy.t(), rows.dense());
    }
  }
  if (needs_x) {
    if (has_kernel(x)) {
      const Tensor weights = w.contiguous();
      dx = at::empty({dy.size(0), w.size(1)}, w.options());
      kernels::cuda::linear_dx(dy.data_ptr<float>(), dy.size(0),
                               {.w = weights.data_ptr<float>(), .m = weights.size(0)}, w.size(1),
                               PrecisionScope::current(), dx.data_ptr<float>(), scope.launch());
    } else {
      dx = at::mm(dy, w);
    }
    if (dropout.active()) drop_into({dx, {}}, dropout, dx);
  }
  return {dx, dw};
}

void drop(const Tensor& x, double rate, int64_t key, const MaybeTensor& base) {
  drop_into({x, {}}, {rate, static_cast<uint64_t>(key), tensor_of(base)}, x);
}

}  // namespace lase::ops::cuda
