#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <optional>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/kernels/kernels.h"
#include "lase/ops/cpu/cpu.h"
#include "lase/ops/dropout.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/rows.h"
#include "lase/ops/workspace.h"

namespace lase::ops::cpu {

using at::Tensor;

namespace {

constexpr int64_t kTile = 256;

// x *= mask for the rows starting at `first`.
void drop_rows(const Dropout& dropout, const Tensor& x, int64_t first) {
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dropout", [&] {
    dropout.apply(x.data_ptr<scalar_t>(), first, x.size(0), x.size(1));
  });
}

Tensor tile_of(const Rows& x, const Dropout& dropout, int64_t first, int64_t last) {
  Tensor rows = x.index.defined() ? x.matrix.index_select(0, x.index.slice(0, first, last))
                                  : x.matrix.slice(0, first, last);
  if (dropout.active()) {
    if (!x.index.defined()) rows = rows.clone(at::MemoryFormat::Contiguous);
    drop_rows(dropout, rows, first);
  }
  return rows;
}

// x Wᵀ by tiles of rows. BLAS libraries choose kernels by the number of rows and treat the last
// rows differently, but the result for a row must not depend on the other rows: float32 has its own
// kernel.
class Product {
 public:
  // W [m, d], with any strides.
  explicit Product(const Tensor& w) : columns_(w.t()) {
    if (w.scalar_type() != at::kFloat) return;
    packed_.emplace(kernels::RowProduct::Matrix{.w = w.data_ptr<float>(),
                                                .m = w.size(0),
                                                .d = w.size(1),
                                                .row_stride = w.stride(0),
                                                .column_stride = w.stride(1)});
  }

  // to [n, m] = x Wᵀ for contiguous rows x.
  void multiply(const Tensor& x, Tensor to) const {
    if (packed_) {
      packed_->multiply(x.data_ptr<float>(), nullptr, x.size(0), to.data_ptr<float>());
    } else {
      at::mm_out(to, x, columns_);
    }
  }
  // The same, for rows first … last of x.
  void multiply(const Rows& x, const Dropout& dropout, int64_t first, int64_t last,
                const Tensor& to) const {
    if (packed_ && x.index.defined() && !dropout.active()) {
      packed_->multiply(x.matrix.data_ptr<float>(), x.index.data_ptr<int64_t>() + first,
                        last - first, to.data_ptr<float>());
    } else {
      multiply(tile_of(x, dropout, first, last), to);
    }
  }

 private:
  Tensor columns_;  // Wᵀ
  std::optional<kernels::RowProduct> packed_;
};

}  // namespace

Tensor linear(const Tensor& x, const MaybeTensor& index, const Tensor& w, double rate, int64_t key,
              const MaybeTensor& base) {
  const Rows rows{x, tensor_of(index)};
  const Dropout dropout{rate, static_cast<uint64_t>(key), tensor_of(base)};
  Tensor y = ops::empty({rows.size(), w.size(0)}, w.options());
  const Product product(w);
  parallel_for(rows.size(), kTile, [&](int64_t first, int64_t last) {
    const c10::NoGradGuard no_grad;
    inherit_thread_count();
    product.multiply(rows, dropout, first, last, y.slice(0, first, last));
  });
  return y;
}

void drop(const Tensor& x, double rate, int64_t key, const MaybeTensor& base) {
  drop_rows({rate, static_cast<uint64_t>(key), tensor_of(base)}, x, 0);
}

TwoTensors linear_backward(const Tensor& dy, const Tensor& x, const MaybeTensor& index,
                           const Tensor& w, double rate, int64_t key, const MaybeTensor& base,
                           bool needs_x, bool needs_w) {
  const Rows rows{x, tensor_of(index)};
  const Dropout dropout{rate, static_cast<uint64_t>(key), tensor_of(base)};
  const int64_t n = rows.size();
  Tensor dx;
  std::optional<Product> to_x;
  if (needs_x) {
    dx = ops::empty({n, rows.width()}, dy.options());
    to_x.emplace(w.t());
  }
  // Chunks of whole tiles, each with its own sum of dW; at most kMostChunks.
  constexpr int64_t kMostChunks = 64;
  const int64_t tiles = (n + kTile - 1) / kTile;
  const int64_t chunk = std::max<int64_t>(1, (tiles + kMostChunks - 1) / kMostChunks) * kTile;
  std::vector<Tensor> dw(static_cast<size_t>((n + chunk - 1) / chunk));
  parallel_for(n, chunk, [&](int64_t begin, int64_t end) {
    const c10::NoGradGuard no_grad;
    inherit_thread_count();
    Tensor& sum = dw[static_cast<size_t>(begin / chunk)];
    for (int64_t first = begin; first < end; first += kTile) {
      const int64_t last = std::min(end, first + kTile);
      const Tensor g = dy.slice(0, first, last);
      if (needs_w && first == begin) sum = at::zeros_like(w);
      if (needs_w) sum.addmm_(g.t(), tile_of(rows, dropout, first, last));
      if (!needs_x) continue;
      Tensor to = dx.slice(0, first, last);
      to_x->multiply(g, to);
      if (dropout.active()) drop_rows(dropout, to, first);
    }
  });
  if (needs_w && dw.empty()) dw.push_back(at::zeros_like(w));
  for (size_t i = 1; i < dw.size() && needs_w; ++i) dw[0].add_(dw[i]);
  return {dx, needs_w ? dw[0] : Tensor()};
}

}  // namespace lase::ops::cpu
