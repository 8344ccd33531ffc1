#include "lase/ops/cached_rows.h"

#include <ATen/ATen.h>

#include "lase/base/random.h"
#include "lase/ops/pinned.h"
#include "lase/ops/rows.h"

#include "gpu_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using ops::CachedRows;

Tensor rows(std::initializer_list<int64_t> values) { return index_tensor(values); }

TEST(CachedRows, ReadsTheRowsOfTheMatrix) {
  Random random(3);
  const Tensor matrix = random_floats(random, {20, 5});
  const Tensor index = rows({7, 0, 19, 7, 3});
  for (const Tensor& cached : {rows({}), rows({7}), rows({0, 3, 7, 19})}) {
    expect_same_bits(CachedRows::of(matrix, cached).at(index), matrix.index_select(0, index),
                     "rows");
  }
}

TEST(CachedRows, ReadsCachedRowsFromTheCache) {
  Tensor matrix = at::zeros({4, 2});
  const CachedRows cached = CachedRows::of(matrix, rows({1, 3}));
  matrix.fill_(1);
  expect_same_bits(cached.at(rows({3, 2, 1, 0})),
                   at::tensor({0.F, 0.F, 1.F, 1.F, 0.F, 0.F, 1.F, 1.F}).view({4, 2}), "rows");
}

TEST(GpuCachedRows, ReadsPinnedMemory) {
  LASE_NEEDS_GPU();
  const at::Device gpu(at::kCUDA, 0);
  Random random(3);
  for (const int64_t d : {1, 5, 8, 130, 602}) {
    const Tensor matrix = random_floats(random, {300, d});
    const Tensor index = at::randint(300, {1000}, at::kLong);
    const Tensor expected = matrix.index_select(0, index);
    for (const int64_t stride : {d, ops::padded_width(d)}) {
      const Tensor pinned = ops::pinned(matrix, gpu, stride);
      expect_same_bits(pinned.cpu(), matrix, "pinned");
      for (const Tensor& cached : {rows({}), rows({7, 9, 150, 299}), at::arange(300)}) {
        const CachedRows all = CachedRows::of(pinned, cached.to(gpu));
        expect_same_bits(all.at(index.to(gpu)).cpu(), expected, "rows");
        expect_same_bits(all.at(index.to(gpu, at::kInt)).cpu(), expected, "rows");
      }
    }
  }
}

}  // namespace
}  // namespace lase
