#pragma once

#include <ATen/core/Tensor.h>

#include "lase/ops/dropout.h"
#include "lase/ops/rows.h"

namespace lase::ops {

// dropout(x) Wᵀ [n, m] for W [m, d]. Rows are processed in tiles of fixed size, on all threads, and
// indexed rows are copied one tile at a time; the result for a row does not depend on the others.
at::Tensor linear(const Rows& x, const at::Tensor& w, const Dropout& dropout = {});

}  // namespace lase::ops
