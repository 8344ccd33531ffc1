#include "lase/ops/linear.h"

#include <future>
#include <thread>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/row_dot.h"

#include "gpu_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using ops::Dropout;
using ops::Rows;

// The dropout mask as a matrix.
Tensor mask(int64_t rows, int64_t columns, const Dropout& dropout) {
  Tensor ones = at::ones({rows, columns}, at::kDouble);
  if (dropout.active()) dropout.apply(ones.data_ptr<double>(), 0, rows, columns);
  return ones;
}

TEST(Dropout, ZeroesAtItsRateAndRescalesTheOthers) {
  const Dropout dropout{.rate = 0.25, .key = 7};
  const Tensor y = mask(200, 51, dropout);
  EXPECT_NEAR((y == 0).to(at::kDouble).mean().item<double>(), 0.25, 0.02);
  EXPECT_TRUE(at::allclose(y.masked_select(y != 0), at::tensor(1 / 0.75, at::kDouble)));
  // The mean is close to 1 in every column and every row.
  EXPECT_LT((y.mean(0) - 1).abs().max().item<double>(), 0.25);
  EXPECT_LT((y.mean(1) - 1).abs().max().item<double>(), 0.45);
  EXPECT_TRUE(at::equal(mask(200, 51, dropout), y));
  EXPECT_FALSE(at::equal(mask(200, 51, dropout.part(1)), y));
  EXPECT_FALSE(at::equal(mask(200, 51, dropout.part(2)), mask(200, 51, dropout.part(1))));
  // The mask of a row does not depend on the tile that contains it.
  Tensor later = at::ones({50, 51}, at::kDouble);
  dropout.apply(later.data_ptr<double>(), 100, 50, 51);
  EXPECT_TRUE(at::equal(later, y.slice(0, 100, 150)));
}

// More rows than a tile, fewer, and none.
constexpr int64_t kRowCounts[] = {0, 1, 5, 256, 700};

TEST(Linear, MultipliesRowsAndGivesBothGradients) {
  Random random(3);
  for (const int64_t n : kRowCounts) {
    for (const bool indexed : {false, true}) {
      for (const double rate : {0.0, 0.5}) {
        const Tensor x = random_tensor(random, {indexed ? 30 : n, 6}).requires_grad_(true);
        const Tensor w = random_tensor(random, {4, 6}).requires_grad_(true);
        const Tensor outer = random_tensor(random, {n, 4});
        Tensor index;
        if (indexed) index = (at::arange(n, at::kLong) * 7).remainder(30);
        const Dropout dropout{rate, 11};
        const Tensor kept = mask(n, 6, dropout);
        const Tensor x2 = x.detach().clone().requires_grad_(true);
        const Tensor w2 = w.detach().clone().requires_grad_(true);
        const Tensor expected = ((indexed ? x2.index_select(0, index) : x2) * kept).matmul(w2.t());
        (expected * outer).sum().backward();
        const Tensor y = ops::linear({x, index}, w, dropout);
        (y * outer).sum().backward();
        const std::string what = join(n, " rows, rate ", rate, indexed ? ", indexed" : "");
        expect_close(y, expected, 1e-12, what);
        expect_close(x.grad(), x2.grad(), 1e-12, "x, " + what);
        expect_close(w.grad(), w2.grad(), 1e-12, "W, " + what);
      }
    }
  }
}

TEST(RowDot, MultipliesRowsAndGivesBothGradients) {
  Random random(5);
  for (const int64_t n : {0, 1, 5, 700, 40000}) {
    for (const int64_t d : {1, 3, 16, 37, 70}) {
      for (const bool indexed : {false, true}) {
        const Tensor wide = random_tensor(random, {indexed ? 30 : n, d});
        const Tensor x = wide.to(at::kFloat).requires_grad_(true);
        const Tensor v = random_tensor(random, {d}).to(at::kFloat).requires_grad_(true);
        const Tensor outer = random_tensor(random, {n}).to(at::kFloat);
        Tensor index;
        if (indexed) index = (at::arange(n, at::kLong) * 7).remainder(30);
        const Tensor x2 = x.detach().to(at::kDouble).requires_grad_(true);
        const Tensor v2 = v.detach().to(at::kDouble).requires_grad_(true);
        const Tensor expected = (indexed ? x2.index_select(0, index) : x2).matmul(v2);
        (expected * outer).sum().backward();
        const Tensor y = ops::row_dot({x, index}, v);
        (y * outer).sum().backward();
        const std::string what = join(n, " rows of ", d, indexed ? ", indexed" : "");
        expect_close(y.to(at::kDouble), expected, 1e-5, what);
        expect_close(x.grad().to(at::kDouble), x2.grad(), 1e-4, "x, " + what);
        expect_close(v.grad().to(at::kDouble), v2.grad(), 1e-4, "v, " + what);
      }
    }
  }
}

TEST(Linear, GivesTheSameBitsForAnyNumberOfThreads) {
  Random random(4);
  const Tensor x = random_tensor(random, {3000, 33}).to(at::kFloat);
  const Tensor w = random_tensor(random, {20, 33}).to(at::kFloat);
  std::vector<Tensor> first;
  for (const int count : {1, 2, 5}) {
    const ThreadLimit limit(count);
    const Tensor v = w.clone().requires_grad_(true);
    const Tensor y = ops::linear({x, {}}, v, {0.5, 3});
    y.pow(2).sum().backward();
    if (first.empty()) first = {y.detach(), v.grad()};
    expect_same_bits(y.detach(), first[0], "y");
    expect_same_bits(v.grad(), first[1], "W");
  }
}

// The number of threads of a thread that used torch before.
TEST(OneThread, AppliesToOtherThreadsOnceTheyInheritIt) {
  std::promise<void> limited;
  int before = 0;
  int after = 0;
  std::promise<void> started;
  std::thread other([&] {
    before = at::get_num_threads();
    started.set_value();
    limited.get_future().wait();
    ops::inherit_thread_count();
    after = at::get_num_threads();
  });
  started.get_future().wait();
  const int previous = at::get_num_threads();
  {
    const ops::OneThread one_thread;
    limited.set_value();
    other.join();
  }
  EXPECT_EQ(before, previous);
  EXPECT_EQ(after, 1);
}

TEST(GpuLinear, HasTheDropoutMaskAndTheGradientsOfTheCpu) {
  LASE_NEEDS_GPU();
  const at::Device gpu(at::kCUDA, 0);
  Random random(4);
  for (const int64_t n : kRowCounts) {
    for (const int64_t d : {6, 301}) {
      for (const bool indexed : {false, true}) {
        for (const double rate : {0.0, 0.5}) {
          const Tensor x = random_floats(random, {indexed ? 30 : n, d}).requires_grad_(true);
          const Tensor w = random_floats(random, {4, d}).requires_grad_(true);
          const Tensor outer = random_floats(random, {n, 4});
          Tensor index;
          if (indexed) index = (at::arange(n, at::kLong) * 7).remainder(30);
          const Dropout dropout{rate, 11};
          const Tensor x2 = x.detach().to(gpu).requires_grad_(true);
          const Tensor w2 = w.detach().to(gpu).requires_grad_(true);
          const Tensor y = ops::linear({x, index}, w, dropout);
          const Tensor y2 = ops::linear(Rows{x2, index}.to(gpu), w2, dropout);
          (y * outer).sum().backward();
          (y2 * outer.to(gpu)).sum().backward();
          const std::string what = join(n, " rows of ", d, ", rate ", rate);
          expect_close(y2.cpu(), y, 1e-4, what);
          expect_close(x2.grad().cpu(), x.grad(), 1e-4, "x, " + what);
          expect_close(w2.grad().cpu(), w.grad(), 1e-4, "W, " + what);
        }
      }
    }
  }
}

TEST(GpuLinear, DropsTheSameEntriesAsTheCpu) {
  LASE_NEEDS_GPU();
  const at::Device gpu(at::kCUDA, 0);
  const Dropout dropout{.rate = 0.3, .key = 99};
  for (const int64_t d : {1, 4, 7, 301}) {
    const Tensor eye = at::eye(d, at::kFloat);
    const Tensor ones = at::ones({700, d}, at::kFloat);
    const Tensor found = ops::linear({ones.to(gpu), {}}, eye.to(gpu), dropout).cpu();
    const Tensor expected = mask(700, d, dropout).to(at::kFloat);
    const std::string what = join("mask of ", d, " columns");
    expect_same_bits(found > 0, expected > 0, what);
    expect_close(found, expected, 1e-6, what);
  }
}

TEST(GpuRowDot, GivesTheProductsAndGradientsOfTheCpu) {
  LASE_NEEDS_GPU();
  const at::Device gpu(at::kCUDA, 0);
  Random random(5);
  for (const int64_t n : {0, 1, 63, 65, 5000}) {
    for (const int64_t d : {1, 31, 33, 301}) {
      const Tensor x = random_floats(random, {30, d});
      const Tensor v = random_floats(random, {d}).requires_grad_(true);
      const Tensor index = (at::arange(n, at::kLong) * 7).remainder(30);
      const Tensor outer = random_floats(random, {n});
      const Tensor v2 = v.detach().to(gpu).requires_grad_(true);
      const Tensor y = ops::row_dot({x, index}, v);
      const Tensor y2 = ops::row_dot(Rows{x, index}.to(gpu), v2);
      (y * outer).sum().backward();
      (y2 * outer.to(gpu)).sum().backward();
      const std::string what = join(n, " rows of ", d);
      expect_close(y2.cpu(), y, 1e-4, what);
      expect_close(v2.grad().cpu(), v.grad(), 1e-3, "v, " + what);
    }
  }
}

}  // namespace
}  // namespace lase
