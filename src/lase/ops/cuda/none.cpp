#include "lase/ops/cuda/cuda.h"

namespace lase::ops::cuda {

bool is_built() { return false; }

}  // namespace lase::ops::cuda
