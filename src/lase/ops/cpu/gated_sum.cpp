#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "lase/kernels/kernels.h"
#include "lase/ops/cpu/cpu.h"
#include "lase/ops/sum_arguments.h"

namespace lase::ops::cpu {

using at::Tensor;

namespace {

TwoTensors sum(const SumArguments& in) {
  const Tensor s = in.empty_sum();
  const Tensor gate = in.empty_gate();
  kernels::gated_sum(in.view, {.s = mutable_pointer(s), .gate = mutable_pointer(gate)});
  return {s, gate};
}

}  // namespace

TwoTensors gated_sum(const TensorList& block, int64_t layout, int64_t columns,
                     const TensorList& attributes, int64_t amplifier, bool links,
                     const TensorList& terms) {
  return sum({block, layout, columns, attributes, amplifier, links, terms});
}

TwoTensors gated_change(const TensorList& block, int64_t layout, int64_t columns,
                        const TensorList& attributes, int64_t amplifier, bool links,
                        const TensorList& terms, const TensorList& baseline) {
  SumArguments in(block, layout, columns, attributes, amplifier, links, terms);
  const kernels::TermView baseline_view = SumTerms(baseline).view();
  in.view.baseline = &baseline_view;
  return sum(in);
}

TwoTensors gated_sum_scores(const TensorList& block, int64_t layout, int64_t columns,
                            const TensorList& attributes, int64_t amplifier, bool links,
                            const TensorList& terms, bool norms, const MaybeTensor& factor) {
  const SumArguments in(block, layout, columns, attributes, amplifier, links, terms);
  const Tensor s = in.empty_sum();
  const Tensor score = in.empty_scores();
  kernels::gated_sum(in.view, {.s = mutable_pointer(s),
                               .gate = norms ? nullptr : mutable_pointer(score),
                               .norm = norms ? mutable_pointer(score) : nullptr,
                               .factor = pointer<float>(tensor_of(factor))});
  return {s, score};
}

SevenTensors gated_sum_backward(const TensorList& block, int64_t layout, int64_t columns,
                                const TensorList& attributes, int64_t amplifier, bool links,
                                const TensorList& terms, const MaybeTensor& gate, const Tensor& ds,
                                bool needs_h) {
  const SumArguments in(block, layout, columns, attributes, amplifier, links, terms);
  const SumGradients gradients(in, needs_h);
  kernels::gated_sum_backward(in.view, pointer<float>(tensor_of(gate)), ds.data_ptr<float>(),
                              gradients.view());
  return gradients.tensors();
}

bool gated_sum_fits(const TensorList&, int64_t, int64_t, const TensorList&, int64_t, bool,
                    const TensorList&) {
  return true;
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
