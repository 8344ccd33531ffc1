#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lase {

struct TsneReport {
  int64_t iteration = 0;  // 0: the neighbours have been found
  int64_t iterations = 0;
  double divergence = 0;  // Kullback–Leibler, of Q from P
};

struct TsneOptions {
  double perplexity = 30;  // at most (n − 1) / 3 is used
  int64_t iterations = 500;
  double theta = 0.5;        // cells seen under a smaller angle count as one point; 0: exact
  double exaggeration = 12;  // of the attraction, in the first quarter of the iterations
  double learning_rate = 0;  // 0: n / exaggeration
  std::span<const float> start = {};  // [n, 2], taken as it is; empty: small and random
  uint64_t seed = 1;

  // Called after the search for neighbours, every tenth iteration and the last.
  std::function<void(const TsneReport&)> progress = {};
  const std::atomic<bool>* stop = nullptr;  // give back what there is after the iteration in work
};

// A map of points with many coordinates: near ones stay near (van der Maaten, Accelerating t-SNE
// using tree-based algorithms, 2014).
//
//   p(j|i) ∝ exp(−β(i) |x(i) − x(j)|²)       over the 3 · perplexity nearest j, β(i) such that
//                                            2^H(p(·|i)) is the perplexity
//   p(ij)  = (p(j|i) + p(i|j)) / 2n
//   w(ij)  = 1 / (1 + |y(i) − y(j)|²)
//   q(ij)  = w(ij) / Z,  Z = Σ_{k ≠ l} w(kl)
//   y      ← by the gradient of KL(P | Q), with momentum and gains
//
// rows: [n, columns], finite → [n, 2]; every iteration centres it. The same seed gives the same map
// for any number of threads.
std::vector<float> tsne(std::span<const float> rows, int64_t n, int64_t columns,
                        const TsneOptions& options);

// The steps on their own, so that each can be held against a plain computation.
namespace detail {

struct Neighbors {
  int64_t k = 0;
  std::vector<int32_t> index;    // [n, k], by distance; equal ones in an order drawn for each point
  std::vector<float> distance2;  // [n, k]
};

// None are found once `stop` is set.
Neighbors nearest_neighbors(std::span<const float> rows, int64_t n, int64_t columns, int64_t k,
                            const std::atomic<bool>* stop = nullptr);

// p(j|i) of one point from its squared distances, ascending: [k].
std::vector<double> conditional(std::span<const float> distance2, double perplexity);

// P, row by row.
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
