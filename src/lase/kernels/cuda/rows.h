#pragma once

#include <cstdint>

#include "lase/kernels/cuda/kernels.h"
#include "lase/kernels/dropout.h"

// Operations on rows of matrices, for T float or double. See kernels/cuda/kernels.h for streams.
namespace lase::kernels::cuda {

// n rows of a matrix [·, d]: row_i, or i if `row` is null.
template <class T>
struct RowsOf {
  const T* h = nullptr;
  int64_t stride = 0;
  const int64_t* row = nullptr;
  int64_t n = 0;
  int64_t d = 0;

  LASE_HD const T* at(int64_t i) const { return h + (row == nullptr ? i : row[i]) * stride; }
};

// See kernels::dot_rows and kernels::sum_rows. The sum is formed in two stages, in an order that
// depends only on n.
void dot_rows(const RowsOf<float>& h, const float* v, float* out, const Launch& launch);
void sum_rows(const RowsOf<float>& h, const float* g, float* out, const Launch& launch);

// out [n, d] = h(row_i) ⊙ mask. `out` may be `h` itself if all rows are read in place. With `base`,
// on the device, the key of the mask is Random(*base, mask.key).bits().
template <class T>
void drop_rows(const RowsOf<T>& h, const DropoutMask& mask, const uint64_t* base, T* out,
               const Launch& launch);

// Copies of some rows of a matrix in faster memory; without any if `slot` is null.
struct CacheOfRows {
  const float* h = nullptr;
  int64_t stride = 0;
  const int32_t* slot = nullptr;  // the copy of a row, or −1
};
// out [n, d] = h(row_i), with rows that are out_stride numbers apart. Where all strides are
// multiples of 4, padding may be read and written.
void copy_rows(const RowsOf<float>& h, const CacheOfRows& cache, float* out, int64_t out_stride,
               const Launch& launch);

// y [rows, left + right] = ReLU([a, b]), and its gradients; a null one is not computed.
struct ConcatShape {
  int64_t rows = 0;
  int64_t left = 0;
  int64_t right = 0;
};
void concat_relu(const float* a, const float* b, const ConcatShape& shape, float* y,
                 const Launch& launch);
void concat_relu_backward(const float* dy, const float* y, const ConcatShape& shape, float* da,
                          float* db, const Launch& launch);

// y [n, d] = x_i / max(‖x_i‖, smallest), and norm [n] = ‖x_i‖.
void normalize_rows(const RowsOf<float>& x, float smallest, float* y, float* norm,
                    const Launch& launch);
// dx [n, d] = (dy − y ⟨y, dy⟩) / ‖x_i‖, or dy / smallest.
void normalize_rows_backward(const RowsOf<float>& y, const float* dy, const float* norm,
                             float smallest, float* dx, const Launch& launch);

// Columns of a matrix that are standardized; see ops/scale_weights.h.
struct ColumnScale {
  int64_t rows = 0;
  int64_t columns = 0;
  const float* mean = nullptr;
  const float* scale = nullptr;
};
// scaled [rows, columns] = w ⊙ scale,   shift [rows] = −scaled mean
void scale_columns(const float* w, const ColumnScale& by, float* scaled, float* shift,
                   const Launch& launch);
// dw = (dscaled − dshift ⊗ mean) ⊙ scale; null: 0
void scale_columns_backward(const float* dscaled, const float* dshift, const ColumnScale& by,
                            float* dw, const Launch& launch);

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
