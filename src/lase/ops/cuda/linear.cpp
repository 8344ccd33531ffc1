#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <optional>

#include "lase/kernels/cuda/rows.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"
#include "lase/ops/dropout.h"
#include "lase/ops/precision.h"
#include "lase/ops/rows.h"

namespace lase::ops::cuda {

using at::Tensor;

namespace {

// to [n, d] = from(row_i) ⊙ mask; `to` may be `from.matrix` without an index.
void drop_into(const Rows& from, const Dropout& dropout, const Tensor& to) {
  LaunchScope scope(to);
  const auto* row = from.index.defined() ? from.index.data_ptr<int64_t>() : nullptr;
  AT_DISPATCH_FLOATING_TYPES(to.scalar_type(), "dropout", [&] {
    kernels::cuda::drop_rows(from.matrix.data_ptr<scalar_t>(), row, to.size(0), to.size(1),
                             dropout.mask(to.size(1)), to.data_ptr<scalar_t>(), scope.launch());
  });
}

// dropout(x): [n, d]
Tensor dropped(const Rows& x, const Dropout& dropout) {
  if (!dropout.active()) return x.dense();
  const Tensor rows = at::empty({x.size(), x.width()}, x.matrix.options());
  drop_into(x, dropout, rows);
  return rows;
}

// In fp32, products are not rounded to TF32, even if torch may do so elsewhere in the process. In
// tf32, torch's own setting decides.
class ProductPrecision {
 public:
  ProductPrecision() {
    if (PrecisionScope::current() == Precision::kFp32) fp32_.emplace();
  }

 private:
  std::optional<at::NoTF32Guard> fp32_;
};

}  // namespace

Tensor linear(const Tensor& x, const MaybeTensor& index, const Tensor& w, double rate,
              int64_t key) {
  const ProductPrecision precision;
  const Dropout dropout{rate, static_cast<uint64_t>(key)};
  return at::mm(dropped({x, tensor_of(index)}, dropout), w.t());
}

TwoTensors linear_backward(const Tensor& dy, const Tensor& x, const MaybeTensor& index,
                           const Tensor& w, double rate, int64_t key, bool needs_x, bool needs_w) {
  const ProductPrecision precision;
  const Dropout dropout{rate, static_cast<uint64_t>(key)};
  Tensor dx;
  Tensor dw;
  if (needs_w) dw = at::mm(dy.t(), dropped({x, tensor_of(index)}, dropout));
  if (needs_x) {
    dx = at::mm(dy, w);
    if (dropout.active()) drop_into({dx, {}}, dropout, dx);
  }
  return {dx, dw};
}

void drop(const Tensor& x, double rate, int64_t key) {
  drop_into({x, {}}, {rate, static_cast<uint64_t>(key)}, x);
}

}  // namespace lase::ops::cuda
