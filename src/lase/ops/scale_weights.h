#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// Weights W [m, k] of attributes that are standardized as (f − mean) ⊙ scale, applied to attributes
// as they are stored:
//
//   W ((f − mean) ⊙ scale) = W' f + shift,     W' = W ⊙ scale,     shift = −W' mean
struct ScaledWeights {
  at::Tensor w;      // W' [m, k]
  at::Tensor shift;  // [m]; undefined: 0
};
// `mean` and `scale` [k] may be undefined, for 0 and 1.
ScaledWeights scale_weights(const at::Tensor& w, const at::Tensor& mean, const at::Tensor& scale);

}  // namespace lase::ops
