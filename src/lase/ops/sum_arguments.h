#pragma once

#include <ATen/core/Tensor.h>

#include "lase/base/error.h"
#include "lase/kernels/kernels.h"
#include "lase/ops/library.h"
#include "lase/ops/workspace.h"

// The arguments of the operators lase::gated_sum etc. in the form that kernels read, for any
// device. Tensors are contiguous and detached from autograd.
namespace lase::ops {

template <class T>
const T* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

inline float* mutable_pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

struct SumTerms {
  at::Tensor h, h_row, u, u_shift, p, q, v, v_h;

  explicit SumTerms(const TensorList& list)
      : h(tensor_at(list, 0)),
        h_row(tensor_at(list, 1)),
        u(tensor_at(list, 2)),
        u_shift(tensor_at(list, 3)),
        p(tensor_at(list, 4)),
        q(tensor_at(list, 5)),
        v(tensor_at(list, 6)),
        v_h(tensor_at(list, 7)) {}

  int64_t sources() const { return h_row.defined() ? h_row.size(0) : h.size(0); }
  kernels::TermView view() const {
    return {.h = pointer<float>(h),
            .h_row = pointer<int64_t>(h_row),
            .u = pointer<float>(u),
            .u_shift = pointer<float>(u_shift),
            .p = pointer<float>(p),
            .q = pointer<float>(q),
            .v = pointer<float>(v),
            .v_h = pointer<float>(v_h)};
  }
};

// The lists must outlive the object.
struct SumArguments {
  SumTerms terms;
  int64_t arcs = 0;
  kernels::GatedSum view;

  SumArguments(const TensorList& block, int64_t layout, int64_t columns,
               const TensorList& attributes, int64_t amplifier, bool links,
               const TensorList& term_list)
      : terms(term_list) {
    const at::Tensor row_ptr = tensor_at(block, 0);
    const at::Tensor source = tensor_at(block, 1);
    const at::Tensor link = tensor_at(block, 2);
    const bool is_wide = link.defined() && link.scalar_type() == at::kLong;
    arcs = source.size(0);
    view.block = {.targets = row_ptr.size(0) - 1,
                  .sources = terms.sources(),
                  .row_ptr = pointer<int64_t>(row_ptr),
                  .source = pointer<int32_t>(source),
                  .link = is_wide ? nullptr : pointer<int32_t>(link),
                  .wide_link = is_wide ? pointer<int64_t>(link) : nullptr,
                  .weight = pointer<float>(tensor_at(block, 3)),
                  .scale = pointer<float>(tensor_at(block, 4)),
                  .by_source = pointer<int64_t>(tensor_at(block, 5)),
                  .arc_target = pointer<int32_t>(tensor_at(block, 6))};
    if (terms.u.defined() || terms.v.defined() || (links && columns > 0)) {
      const at::Tensor values = tensor_at(attributes, 0);
      view.f = {.layout = static_cast<Layout>(layout),
                .columns = columns,
                .codes = static_cast<Layout>(layout) == Layout::kDictionary ? values.size(0) : 0,
                .values = pointer<float>(values),
                .row_ptr = pointer<int64_t>(tensor_at(attributes, 1)),
                .column = pointer<int32_t>(tensor_at(attributes, 2)),
                .code = pointer<int32_t>(tensor_at(attributes, 3))};
    }
    view.d = terms.h.size(1);
    view.links = links;
    view.amplifier = static_cast<kernels::Amplifier>(amplifier);
    view.terms = terms.view();
  }

  at::Tensor empty_sum() const {
    return ops::empty({view.block.targets, view.width()}, terms.h.options());
  }
  at::Tensor empty_scores() const { return ops::empty({arcs}, terms.h.options()); }
  // For λ; undefined without a gate.
  at::Tensor empty_gate() const { return terms.p.defined() ? empty_scores() : at::Tensor(); }
};

// Uninitialized gradients of the terms; undefined if the input is, or if they are not needed.
struct SumGradients {
  at::Tensor h, u, u_shift, p, q, v, v_h;

  SumGradients(const SumArguments& in, bool needs_h) {
    const auto like = [](const at::Tensor& x) {
      return x.defined() ? ops::empty_like(x) : at::Tensor();
    };
    require(!needs_h || (!in.terms.h_row.defined() && !in.terms.v_h.defined()),
            "gated_sum: h has no gradient if its rows are read through an index, or with V_v");
    if (needs_h) h = like(in.terms.h);
    u = like(in.terms.u);
    u_shift = like(in.terms.u_shift);
    p = like(in.terms.p);
    q = like(in.terms.q);
    v = like(in.terms.v);
    v_h = like(in.terms.v_h);
  }

  kernels::GatedSumGradients view() const {
    return {.h = mutable_pointer(h),
            .u = mutable_pointer(u),
            .u_shift = mutable_pointer(u_shift),
            .p = mutable_pointer(p),
            .q = mutable_pointer(q),
            .v = mutable_pointer(v),
            .v_h = mutable_pointer(v_h)};
  }
  SevenTensors tensors() const { return {h, u, u_shift, p, q, v, v_h}; }
};

}  // namespace lase::ops
