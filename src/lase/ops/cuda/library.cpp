#include <torch/library.h>

#include "lase/ops/cuda/cuda.h"

namespace lase::ops::cuda {

bool is_built() { return true; }

}  // namespace lase::ops::cuda

TORCH_LIBRARY_IMPL(lase, CUDA, m) {
  namespace cuda = lase::ops::cuda;
  m.impl("gated_sum", cuda::gated_sum);
  m.impl("gated_change", cuda::gated_change);
  m.impl("gated_sum_scores", cuda::gated_sum_scores);
  m.impl("gated_sum_backward", cuda::gated_sum_backward);
  m.impl("gated_sum_fits", cuda::gated_sum_fits);
  m.impl("largest_arcs", cuda::largest_arcs);
  m.impl("arcs_by_target", cuda::arcs_by_target);
  m.impl("linear", cuda::linear);
  m.impl("linear_backward", cuda::linear_backward);
  m.impl("drop", cuda::drop);
  m.impl("adam_step", cuda::adam_step);
  m.impl("row_dot", cuda::row_dot);
  m.impl("row_dot_backward", cuda::row_dot_backward);
  m.impl("sparse_rows", cuda::sparse_rows);
}
