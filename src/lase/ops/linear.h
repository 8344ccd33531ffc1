#pragma once

#include <ATen/core/Tensor.h>

#include "lase/ops/dropout.h"
#include "lase/ops/rows.h"

namespace lase::ops {

// x Wᵀ [n, m] for W [m, d], with entries of x dropped. Rows are taken in stretches of fixed length,
// on all threads; what an index names is copied a stretch at a time.
at::Tensor linear(const Rows& x, const at::Tensor& w, const Dropout& dropout = {});

}  // namespace lase::ops
