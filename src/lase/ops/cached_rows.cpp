#include "lase/ops/cached_rows.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "lase/ops/library.h"
#include "lase/ops/rows.h"

namespace lase::ops {

using at::Tensor;

CachedRows CachedRows::of(const Tensor& matrix, const Tensor& rows) {
  CachedRows result{matrix, {}, {}};
  if (rows.size(0) == 0) return result;
  result.cache = result.at(rows);
  result.slot = at::full({matrix.size(0)}, -1, rows.options().dtype(at::kInt));
  result.slot.index_copy_(0, rows, at::arange(rows.size(0), result.slot.options()));
  return result;
}

Tensor CachedRows::at(const Tensor& index) const {
  using Signature = Tensor(const Tensor&, const MaybeTensor&, const MaybeTensor&, const Tensor&);
  static const auto op = operator_named<Signature>("lase::cached_rows");
  const c10::NoGradGuard no_grad;
  return op.call(plain_rows(matrix), maybe(cache), maybe(slot), index.to(at::kLong));
}

}  // namespace lase::ops
