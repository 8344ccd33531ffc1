#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "lase/kernels/cuda/optimizer.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"

namespace lase::ops::cuda {

using at::Tensor;

void adam_step(const Tensor& w, const Tensor& g, const Tensor& m, const Tensor& v,
               double learning_rate, double weight_decay, double clip, int64_t steps) {
  LaunchScope scope(w);
  AT_DISPATCH_FLOATING_TYPES(w.scalar_type(), "adam_step", [&] {
    kernels::cuda::adam_step({.learning_rate = learning_rate,
                              .weight_decay = weight_decay,
                              .clip = clip,
                              .steps = steps},
                             g.data_ptr<scalar_t>(), w.numel(), w.data_ptr<scalar_t>(),
                             m.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), scope.launch());
  });
}

}  // namespace lase::ops::cuda
