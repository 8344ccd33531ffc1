#include "lase/ops/adam.h"

#include "lase/ops/library.h"

namespace lase::ops {

using at::Tensor;

void adam_step(Tensor& w, const Tensor& g, Tensor& m, Tensor& v, const kernels::AdamStep& step) {
  using Signature = void(const Tensor&, const Tensor&, const Tensor&, const Tensor&, double, double,
                         double, int64_t);
  static const auto op = operator_named<Signature>("lase::adam_step");
  op.call(w.detach(), g.detach().contiguous(), m, v, step.learning_rate, step.weight_decay,
          step.clip, step.steps);
}

}  // namespace lase::ops
