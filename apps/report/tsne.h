#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lase {

struct TsneReport {
  int64_t iteration = 0;  // 0: the nearest neighbors have been found
  int64_t iterations = 0;
  double divergence = 0;  // KL(P | Q)
};

struct TsneOptions {
  double perplexity = 30;  // capped at (n − 1) / 3
  int64_t iterations = 500;
  double theta = 0.5;        // Barnes–Hut angle below which a cell counts as one point; 0: exact
  double exaggeration = 12;  // early exaggeration, for the first quarter of the iterations
  double learning_rate = 0;  // 0: n / exaggeration
  std::span<const float> start = {};  // [n, 2], initial map; empty: small random values
  uint64_t seed = 1;

  // Called after the nearest-neighbor search, every tenth iteration, and the last one.
  std::function<void(const TsneReport&)> progress = {};
  const std::atomic<bool>* stop = nullptr;  // if set, returns the map after the current iteration
};

// Barnes–Hut t-SNE (van der Maaten, Accelerating t-SNE using tree-based algorithms, 2014).
//
//   p(j|i) ∝ exp(−β(i) |x(i) − x(j)|²)       over the 3 · perplexity nearest j, β(i) such that
//                                            2^H(p(·|i)) is the perplexity
//   p(ij)  = (p(j|i) + p(i|j)) / 2n
//   w(ij)  = 1 / (1 + |y(i) − y(j)|²)
//   q(ij)  = w(ij) / Z,  Z = Σ_{k ≠ l} w(kl)
//   y        minimizes KL(P | Q) by gradient descent with momentum and gains
//
// rows: [n, columns], finite → [n, 2], centered in every iteration. The result depends on the seed
// but not on the number of threads.
std::vector<float> tsne(std::span<const float> rows, int64_t n, int64_t columns,
                        const TsneOptions& options);

// The individual steps, so that each can be tested against a brute-force computation.
namespace detail {

struct Neighbors {
  int64_t k = 0;
  std::vector<int32_t> index;    // [n, k], by distance; ties in random order per point
  std::vector<float> distance2;  // [n, k]
};

// Incomplete if `stop` is set.
Neighbors nearest_neighbors(std::span<const float> rows, int64_t n, int64_t columns, int64_t k,
                            const std::atomic<bool>* stop = nullptr);

// p(j|i) of one point: [k], from its squared distances in ascending order.
std::vector<double> conditional(std::span<const float> distance2, double perplexity);

// P in CSR form.
struct Affinities {
  std::vector<int64_t> row_ptr;  // [n + 1]
  std::vector<int32_t> column;   // ascending in each row
  std::vector<float> p;
};

Affinities affinities(const Neighbors& neighbors, double perplexity);

struct Point {
  double x = 0;
  double y = 0;
};

struct Repulsion {
  std::vector<Point> force;  // [n]: Σ_j w(ij)² (y(i) − y(j))
  double z = 0;
};

Repulsion repulsion(std::span<const Point> y, double theta);

// A quarter of the gradient: exaggeration · Σ_j p(ij) w(ij) (y(i) − y(j)) − force(i) / Z.
std::vector<Point> gradient(const Affinities& affinities, std::span<const Point> y, double theta,
                            double exaggeration);

}  // namespace detail

}  // namespace lase
