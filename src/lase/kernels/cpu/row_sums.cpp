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
  // As many partial sums as the number of rows says, whatever the number of threads.
  constexpr int64_t kMost = 64;
  const int64_t size = std::max<int64_t>(512, (n + kMost - 1) / kMost);
  const int64_t pieces = (n + size - 1) / size;
  const int64_t stride = round_up(d, isa().lanes);
  const Floats partial(pieces * stride);
  parallel_for(n, size, [&](int64_t first, int64_t last) {
    isa().sum_rows({h, row, d}, first, last, g, partial.get() + first / size * stride);
  });
  std::fill(out, out + d, 0.0F);
  for (int64_t piece = 0; piece < pieces; ++piece) add(partial.get() + piece * stride, d, out);
}

void skip_gram(const SkipGram& tables, const NodePair* pairs, int64_t n) {
  isa().skip_gram(tables, pairs, n);
}

}  // namespace lase::kernels
