#pragma once

#include <cstdint>

#include "lase/kernels/cuda/kernels.h"
#include "lase/kernels/dropout.h"

// Operations on rows of matrices, for T float or double. See kernels/cuda/kernels.h for streams.
namespace lase::kernels::cuda {

// See kernels::dot_rows and kernels::sum_rows. The sum is formed in two stages, in an order that
// depends only on n.
void dot_rows(const float* h, const int64_t* row, int64_t n, int64_t d, const float* v, float* out,
              const Launch& launch);
void sum_rows(const float* h, const int64_t* row, int64_t n, int64_t d, const float* g, float* out,
              const Launch& launch);

// out [n, d] = h(row_i) ⊙ mask for n rows of h [·, d]; row null: row_i = i. `out` may be `h` itself
// if row is null.
template <class T>
void drop_rows(const T* h, const int64_t* row, int64_t n, int64_t d, const DropoutMask& mask,
               T* out, const Launch& launch);

// Sparse rows as arrays of their stored values.
template <class T>
struct SparseRows {
  const int64_t* row_ptr = nullptr;
  const int32_t* column = nullptr;
  const T* value = nullptr;
};
// Copies the stored values of n rows; those of row i start at offset[i].
template <class T>
void copy_sparse_rows(const SparseRows<T>& from, const int64_t* row, const int64_t* offset,
                      int64_t n, int64_t* column, T* value, const Launch& launch);

// out [targets, d]: the first argmax over the arcs row_ptr[u] … row_ptr[u + 1] of x [arcs, d];
// `arcs` for a target without arcs.
template <class T>
void largest_arcs(const T* x, const int64_t* row_ptr, int64_t targets, int64_t arcs, int64_t d,
                  int64_t* out, const Launch& launch);

}  // namespace lase::kernels::cuda
