#pragma once

#include <ATen/core/Tensor.h>

#include "lase/ops/dropout.h"
#include "lase/ops/rows.h"

namespace lase::ops {

// x Wᵀ [n, m] for W [m, d], with entries of x dropped. Rows are taken in tiles of fixed size, on
// all threads, and what an index names is copied a tile at a time; a row's result does not depend
// on the other rows.
at::Tensor linear(const Rows& x, const at::Tensor& w, const Dropout& dropout = {});

}  // namespace lase::ops
