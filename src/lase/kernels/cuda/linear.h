#pragma once

#include <cstdint>

#include "lase/kernels/cuda/kernels.h"
#include "lase/kernels/cuda/rows.h"

// Products with the weights of a layer, in float32 or with factors rounded to TF32 (see Precision).
// Rows of x are read through their index, without copying them. An element of y or dx is a sum in
// an order that depends only on d and m; one of dW, in an order that also depends on n.
namespace lase::kernels::cuda {

// W [m, d].
struct Weights {
  const float* w = nullptr;
  int64_t m = 0;
};

// y [n, m] = x Wᵀ
void linear(const RowsOf<float>& x, const Weights& weights, Precision precision, float* y,
            const Launch& launch);
// dx [n, d] = dy W
void linear_dx(const float* dy, int64_t n, const Weights& weights, int64_t d, Precision precision,
               float* dx, const Launch& launch);
// dW [m, d] = dyᵀ x
void linear_dw(const float* dy, int64_t m, const RowsOf<float>& x, Precision precision, float* dw,
               const Launch& launch);

}  // namespace lase::kernels::cuda
