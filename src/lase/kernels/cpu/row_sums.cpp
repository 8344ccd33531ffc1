#include <algorithm>

#include "lase/base/parallel.h"
#include "lase/kernels/cpu/chosen.h"
#include "lase/kernels/kernels.h"

namespace lase::kernels {

void dot_rows(const float* h, const int64_t* row, int64_t n, int64_t d, const float* v,
              float* out) {
  constexpr int64_t kRows = 512;
  parallel_for(n, kRows, [&](int64_t first, int64_t last) {
    isa().dot_rows({h, row, d}, first, last, v, out);
  });
}

void sum_rows(const float* h, const int64_t* row, int64_t n, int64_t d, const float* g,
              float* out) {
  // The number of partial sums depends only on n, not on the number of threads.
  constexpr int64_t kMost = 64;
  const int64_t size = std::max<int64_t>(512, (n + kMost - 1) / kMost);
  const int64_t chunks = (n + size - 1) / size;
  const int64_t stride = round_up(d, isa().lanes);
  const Floats partial(chunks * stride);
  parallel_for(n, size, [&](int64_t first, int64_t last) {
    isa().sum_rows({h, row, d}, first, last, g, partial.get() + first / size * stride);
  });
  std::fill(out, out + d, 0.0F);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) add(partial.get() + chunk * stride, d, out);
}

RowProduct::RowProduct(const Matrix& matrix)
    : m_(matrix.m),
      d_(matrix.d),
      packed_(std::make_unique<float[]>(static_cast<size_t>(round_up(m_, isa().lanes) * d_))) {
  const int64_t m_padded = round_up(m_, isa().lanes);
  for (int64_t start = 0; start < m_; start += isa().column_tile) {
    const int64_t width = std::min(isa().column_tile, m_padded - start);
    for (int64_t j = 0; j < d_; ++j) {
      float* to = packed_.get() + start * d_ + j * width;
      const float* from = matrix.w + j * matrix.column_stride;
      for (int64_t c = start; c < std::min(m_, start + width); ++c) {
        to[c - start] = from[c * matrix.row_stride];
      }
    }
  }
}

void RowProduct::multiply(const float* x, const int64_t* row, int64_t n, float* y) const {
  for (int64_t i = 0; i < n; i += kProductRows) {
    isa().multiply_rows({x, row, d_}, i, std::min(kProductRows, n - i), packed_.get(), m_,
                        y + i * m_);
  }
}

void skip_gram(const SkipGram& tables, const NodePair* pairs, int64_t n) {
  isa().skip_gram(tables, pairs, n);
}

}  // namespace lase::kernels
