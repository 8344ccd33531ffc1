#include "lase/ops/attribute_product.h"

#include <ATen/ATen.h>

#include "lase/ops/library.h"
#include "lase/ops/linear.h"
#include "lase/ops/pinned.h"

namespace lase::ops {

using at::Tensor;

namespace {

template <class T>
Tensor view(const Array<T>& array, at::IntArrayRef shape, at::ScalarType type) {
  return at::from_blob(
      const_cast<T*>(array.data()), shape, [array](void*) {}, type);
}

// The stored values of the selected sparse rows, concatenated.
struct Gathered {
  Tensor offset;  // int64 [n+1]
  Tensor column;  // int64 [stored]
  Tensor value;   // [stored]
};

Gathered gather(const AttributeTensors& f, const Tensor& rows) {
  using Signature = ThreeTensors(const Tensor&, const Tensor&, const Tensor&, const Tensor&);
  static const auto op = operator_named<Signature>("lase::sparse_rows");
  auto [offset, column, value] = op.call(f.values, f.row_ptr, f.column, rows);
  return {offset, column, value};
}

// Zeroes stored values; the others of a row are zero anyway.
void drop(const Tensor& value, const Dropout& dropout) {
  using Signature = void(const Tensor&, double, int64_t, const MaybeTensor&);
  static const auto op = operator_named<Signature>("lase::drop");
  op.call(value.unsqueeze(0), dropout.rate, static_cast<int64_t>(dropout.key), maybe(dropout.base));
}

Tensor codes_of(const AttributeTensors& f, const Tensor& rows) {
  return f.code.index_select(0, rows);
}

}  // namespace

AttributeTensors::AttributeTensors(const Attributes& matrix)
    : layout(matrix.layout), rows(matrix.rows), columns(matrix.columns) {
  const int64_t value_rows = layout == Layout::kDictionary ? matrix.codes() : matrix.rows;
  values = layout == Layout::kSparse ? view(matrix.values, {matrix.values.size()}, at::kFloat)
                                     : view(matrix.values, {value_rows, columns}, at::kFloat);
  if (layout == Layout::kSparse) {
    row_ptr = view(matrix.row_ptr, {matrix.row_ptr.size()}, at::kLong);
    column = view(matrix.column, {matrix.column.size()}, at::kInt);
  }
  if (layout == Layout::kDictionary) code = view(matrix.code, {rows}, at::kInt);
}

namespace {

// With change(x) in place of every tensor x.
template <class Change>
AttributeTensors changed(AttributeTensors f, const Change& change) {
  for (Tensor* x : {&f.values, &f.row_ptr, &f.column, &f.code}) {
    if (x->defined()) *x = change(*x);
  }
  return f;
}

}  // namespace

AttributeTensors AttributeTensors::to(const at::Device& device) const {
  return changed(*this, [&](const Tensor& x) { return x.to(device); });
}

AttributeTensors AttributeTensors::pinned(const at::Device& device) const {
  return changed(*this, [&](const Tensor& x) { return ops::pinned(x, device); });
}

int64_t AttributeTensors::bytes() const {
  int64_t sum = 0;
  for (const Tensor& x : {values, row_ptr, column, code}) {
    if (x.defined()) sum += static_cast<int64_t>(x.nbytes());
  }
  return sum;
}

Tensor attribute_product(const AttributeTensors& f, const Tensor& rows, const Tensor& u,
                         const Dropout& dropout) {
  switch (f.layout) {
    case Layout::kDense:
      return linear({f.values, rows.to(at::kLong)}, u, dropout);
    case Layout::kDictionary:
      if (dropout.active()) return linear({f.values, codes_of(f, rows).to(at::kLong)}, u, dropout);
      return linear({f.values, {}}, u).index_select(0, codes_of(f, rows));
    case Layout::kSparse:
      break;
  }
  // One bag per row: Σ value · Uᵀ[column].
  const Gathered stored = gather(f, rows);
  if (dropout.active()) drop(stored.value, dropout);
  if (stored.value.size(0) == 0) return at::zeros({rows.size(0), u.size(0)}, u.options());
  return std::get<0>(at::embedding_bag(u.t().contiguous(), stored.column, stored.offset,
                                       /*scale_grad_by_freq=*/false, /*mode=*/0, /*sparse=*/false,
                                       stored.value, /*include_last_offset=*/true));
}

Tensor attribute_rows(const AttributeTensors& f, const Tensor& rows) {
  switch (f.layout) {
    case Layout::kDense:
      return f.values.index_select(0, rows);
    case Layout::kDictionary:
      return f.values.index_select(0, codes_of(f, rows));
    case Layout::kSparse:
      break;
  }
  const Gathered stored = gather(f, rows);
  Tensor dense = at::zeros({rows.size(0), f.columns}, f.values.options());
  const Tensor counts = stored.offset.slice(0, 1) - stored.offset.slice(0, 0, -1);
  const Tensor row = at::repeat_interleave(counts);
  dense.index_put_({row, stored.column}, stored.value);
  return dense;
}

}  // namespace lase::ops
