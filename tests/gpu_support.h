#pragma once

#include <ATen/Context.h>

#include "lase/ops/cuda/cuda.h"

// Skips a test where lase has no GPU to run on.
#define LASE_NEEDS_GPU()                                                                  \
  if (!lase::ops::cuda::is_built()) GTEST_SKIP() << "lase was built without GPU support"; \
  if (!at::hasCUDA()) GTEST_SKIP() << "there is no NVIDIA GPU"
