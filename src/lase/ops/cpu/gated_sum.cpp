#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "lase/base/error.h"
#include "lase/kernels/kernels.h"
#include "lase/ops/cpu/cpu.h"
#include "lase/ops/workspace.h"

namespace lase::ops::cpu {

using at::Tensor;

namespace {

template <class T>
const T* pointer(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

float* mutable_pointer(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

struct Terms {
  Tensor h, h_row, u, u_shift, p, q, v;

  explicit Terms(const TensorList& list)
      : h(tensor_at(list, 0)),
        h_row(tensor_at(list, 1)),
        u(tensor_at(list, 2)),
        u_shift(tensor_at(list, 3)),
        p(tensor_at(list, 4)),
        q(tensor_at(list, 5)),
        v(tensor_at(list, 6)) {}

  int64_t sources() const { return h_row.defined() ? h_row.size(0) : h.size(0); }
  kernels::TermView view() const {
    return {.h = pointer<float>(h),
            .h_row = pointer<int64_t>(h_row),
            .u = pointer<float>(u),
            .u_shift = pointer<float>(u_shift),
            .p = pointer<float>(p),
            .q = pointer<float>(q),
            .v = pointer<float>(v)};
  }
};

// The arguments of an operator in the form that the kernel reads. The lists must outlive it.
struct Call {
  Terms terms;
  kernels::GatedSum view;

  Call(const TensorList& block, int64_t layout, int64_t columns, const TensorList& attributes,
       int64_t amplifier, bool links, const TensorList& term_list)
      : terms(term_list) {
    const Tensor row_ptr = tensor_at(block, 0);
    const Tensor link = tensor_at(block, 2);
    const bool is_wide = link.defined() && link.scalar_type() == at::kLong;
    view.block = {.targets = row_ptr.size(0) - 1,
                  .sources = terms.sources(),
                  .row_ptr = pointer<int64_t>(row_ptr),
                  .source = pointer<int32_t>(tensor_at(block, 1)),
                  .link = is_wide ? nullptr : pointer<int32_t>(link),
                  .wide_link = is_wide ? pointer<int64_t>(link) : nullptr,
                  .weight = pointer<float>(tensor_at(block, 3)),
                  .scale = pointer<float>(tensor_at(block, 4)),
                  .by_source = pointer<int64_t>(tensor_at(block, 5)),
                  .arc_target = pointer<int32_t>(tensor_at(block, 6))};
    if (terms.u.defined() || terms.v.defined() || (links && columns > 0)) {
      const Tensor values = tensor_at(attributes, 0);
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

  Tensor empty_sum() const { return ops::empty({view.block.targets, view.width()}); }
  Tensor empty_scores() const { return ops::empty({view.block.arcs()}); }
  TwoTensors sum() const {
    const Tensor s = empty_sum();
    const Tensor gate = terms.p.defined() ? empty_scores() : Tensor();
    kernels::gated_sum(view, {.s = mutable_pointer(s), .gate = mutable_pointer(gate)});
    return {s, gate};
  }
};

}  // namespace

TwoTensors gated_sum(const TensorList& block, int64_t layout, int64_t columns,
                     const TensorList& attributes, int64_t amplifier, bool links,
                     const TensorList& terms) {
  return Call(block, layout, columns, attributes, amplifier, links, terms).sum();
}

TwoTensors gated_change(const TensorList& block, int64_t layout, int64_t columns,
                        const TensorList& attributes, int64_t amplifier, bool links,
                        const TensorList& terms, const TensorList& baseline) {
  Call call(block, layout, columns, attributes, amplifier, links, terms);
  const kernels::TermView baseline_view = Terms(baseline).view();
  call.view.baseline = &baseline_view;
  return call.sum();
}

TwoTensors gated_sum_scores(const TensorList& block, int64_t layout, int64_t columns,
                            const TensorList& attributes, int64_t amplifier, bool links,
                            const TensorList& terms, bool norms, const MaybeTensor& factor) {
  const Call call(block, layout, columns, attributes, amplifier, links, terms);
  const Tensor s = call.empty_sum();
  const Tensor score = call.empty_scores();
  kernels::gated_sum(call.view, {.s = mutable_pointer(s),
                                 .gate = norms ? nullptr : mutable_pointer(score),
                                 .norm = norms ? mutable_pointer(score) : nullptr,
                                 .factor = pointer<float>(tensor_of(factor))});
  return {s, score};
}

SixTensors gated_sum_backward(const TensorList& block, int64_t layout, int64_t columns,
                              const TensorList& attributes, int64_t amplifier, bool links,
                              const TensorList& terms, const MaybeTensor& gate, const Tensor& ds,
                              bool needs_h) {
  const Call call(block, layout, columns, attributes, amplifier, links, terms);
  const Terms& in = call.terms;
  require(!needs_h || !in.h_row.defined(),
          "gated_sum: h has no gradient if its rows are read through an index");
  const auto like = [](const Tensor& x) { return x.defined() ? ops::empty_like(x) : Tensor(); };
  const Tensor h = needs_h ? ops::empty_like(in.h) : Tensor();
  const Tensor u = like(in.u);
  const Tensor u_shift = like(in.u_shift);
  const Tensor p = like(in.p);
  const Tensor q = like(in.q);
  const Tensor v = like(in.v);
  kernels::gated_sum_backward(call.view, pointer<float>(tensor_of(gate)), ds.data_ptr<float>(),
                              {.h = mutable_pointer(h),
                               .u = mutable_pointer(u),
                               .u_shift = mutable_pointer(u_shift),
                               .p = mutable_pointer(p),
                               .q = mutable_pointer(q),
                               .v = mutable_pointer(v)});
  return {h, u, u_shift, p, q, v};
}

Tensor largest_arcs(const Tensor& x, const Tensor& row_ptr) {
  const int64_t arcs = x.size(0);
  const int64_t d = x.size(1);
  const int64_t targets = row_ptr.size(0) - 1;
  Tensor first = at::full({targets, d}, arcs, at::kLong);
  const Tensor values = x.contiguous();
  const auto* row = row_ptr.data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "largest_arcs", [&] {
    const auto* value = values.data_ptr<scalar_t>();
    for (int64_t u = 0; u < targets; ++u) {
      auto* best = first.data_ptr<int64_t>() + u * d;
      for (int64_t i = row[u]; i < row[u + 1]; ++i) {
        for (int64_t j = 0; j < d; ++j) {
          if (best[j] == arcs || value[i * d + j] > value[best[j] * d + j]) best[j] = i;
        }
      }
    }
  });
  return first;
}

}  // namespace lase::ops::cpu
