#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "lase/kernels/cuda/rows.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"
#include "lase/ops/precision.h"
#include "lase/ops/sum_arguments.h"

namespace lase::ops::cuda {

using at::Tensor;

namespace {

kernels::cuda::DeviceSum device_sum(const SumArguments& in) {
  return {.sum = in.view,
          .arcs = in.arcs,
          .h_stride = in.terms.h.stride(0),
          .precision = PrecisionScope::current()};
}

TwoTensors sum(const SumArguments& in, int64_t baseline_stride = 0) {
  LaunchScope scope(in.terms.h);
  const Tensor s = in.empty_sum();
  const Tensor gate = in.empty_gate();
  kernels::cuda::DeviceSum all = device_sum(in);
  all.baseline_stride = baseline_stride;
  kernels::cuda::gated_sum(all, {.s = mutable_pointer(s), .gate = mutable_pointer(gate)},
                           scope.launch());
  return {s, gate};
}

}  // namespace

int64_t most_attributes() { return kernels::cuda::kMostAttributes; }

TwoTensors gated_sum(const TensorList& block, int64_t layout, int64_t columns,
                     const TensorList& attributes, int64_t amplifier, bool links,
                     const TensorList& terms) {
  return sum({block, layout, columns, attributes, amplifier, links, terms});
}

TwoTensors gated_change(const TensorList& block, int64_t layout, int64_t columns,
                        const TensorList& attributes, int64_t amplifier, bool links,
                        const TensorList& terms, const TensorList& baseline) {
  SumArguments in(block, layout, columns, attributes, amplifier, links, terms);
  const SumTerms of_baseline(baseline);
  const kernels::TermView baseline_view = of_baseline.view();
  in.view.baseline = &baseline_view;
  return sum(in, of_baseline.h.stride(0));
}

TwoTensors gated_sum_scores(const TensorList& block, int64_t layout, int64_t columns,
                            const TensorList& attributes, int64_t amplifier, bool links,
                            const TensorList& terms, bool norms, const MaybeTensor& factor) {
  const SumArguments in(block, layout, columns, attributes, amplifier, links, terms);
  LaunchScope scope(in.terms.h);
  const Tensor s = in.empty_sum();
  const Tensor score = in.empty_scores();
  kernels::cuda::gated_sum(device_sum(in),
                           {.s = mutable_pointer(s),
                            .gate = norms ? nullptr : mutable_pointer(score),
                            .norm = norms ? mutable_pointer(score) : nullptr,
                            .factor = pointer<float>(tensor_of(factor))},
                           scope.launch());
  return {s, score};
}

SevenTensors gated_sum_backward(const TensorList& block, int64_t layout, int64_t columns,
                                const TensorList& attributes, int64_t amplifier, bool links,
                                const TensorList& terms, const MaybeTensor& gate, const Tensor& ds,
                                bool needs_h) {
  SumArguments in(block, layout, columns, attributes, amplifier, links, terms);
  LaunchScope scope(in.terms.h);
  const SumGradients gradients(in, needs_h);
  kernels::cuda::gated_sum_backward(device_sum(in), pointer<float>(tensor_of(gate)),
                                    ds.data_ptr<float>(), gradients.view(), scope.launch());
  return gradients.tensors();
}

bool gated_sum_fits(const TensorList& block, int64_t layout, int64_t columns,
                    const TensorList& attributes, int64_t amplifier, bool links,
                    const TensorList& terms) {
  return kernels::cuda::fits(
      SumArguments(block, layout, columns, attributes, amplifier, links, terms).view);
}

Tensor largest_arcs(const Tensor& x, const Tensor& row_ptr) {
  LaunchScope scope(x);
  const Tensor values = x.contiguous();
  const int64_t targets = row_ptr.size(0) - 1;
  Tensor first = at::empty({targets, x.size(1)}, row_ptr.options());
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "largest_arcs", [&] {
    kernels::cuda::largest_arcs(values.data_ptr<scalar_t>(), row_ptr.data_ptr<int64_t>(), targets,
                                x.size(0), x.size(1), first.data_ptr<int64_t>(), scope.launch());
  });
  return first;
}

}  // namespace lase::ops::cuda
