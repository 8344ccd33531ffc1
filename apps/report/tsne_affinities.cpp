#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "lase/base/parallel.h"
#include "lase/base/random.h"

#include "report/tsne.h"

namespace lase::detail {
namespace {

constexpr int64_t kGrain = 256;  // points per chunk
constexpr int64_t kLanes = 16;   // points per tile

// Points in tiles of kLanes, column by column: [tiles, columns, kLanes]. Values are scaled by a
// power of two into [−1, 1] so that squares do not overflow; p(j|i) does not depend on the scale.
std::vector<float> to_tiles(std::span<const float> rows, int64_t n, int64_t columns) {
  float largest = 0;
  for (const float value : rows) largest = std::max(largest, std::abs(value));
  const int exponent = largest > 0 ? -std::ilogb(largest) - 1 : 0;
  const int64_t tiles = (n + kLanes - 1) / kLanes;
  std::vector<float> result(static_cast<size_t>(tiles * columns * kLanes));
  for (int64_t i = 0; i < n; ++i) {
    float* tile = result.data() + i / kLanes * columns * kLanes + i % kLanes;
    for (int64_t c = 0; c < columns; ++c) {
      tile[c * kLanes] = std::ldexp(rows[static_cast<size_t>(i * columns + c)], exponent);
    }
  }
  return result;
}

using TileDistances = std::array<float, kLanes>;

// Squared distances from two points, each given by its lane in its tile, to all points of a tile.
// The inner loop runs over lanes, not along a row, so that the compiler can vectorize it.
void distances_to_tile(const float* a, const float* b, const float* tile, int64_t columns,
                       TileDistances& to_a, TileDistances& to_b) {
  float sum_a[kLanes] = {};
  float sum_b[kLanes] = {};
  for (int64_t c = 0; c < columns; ++c) {
    const float from_a = a[c * kLanes];
    const float from_b = b[c * kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float value = tile[c * kLanes + lane];
      sum_a[lane] += (from_a - value) * (from_a - value);
      sum_b[lane] += (from_b - value) * (from_b - value);
    }
  }
  std::copy_n(sum_a, kLanes, to_a.begin());
  std::copy_n(sum_b, kLanes, to_b.begin());
}

// The k nearest points offered so far, in a heap with the farthest on top. Ties are broken by a
// random number per pair: with the index instead, all copies of a point would share the same few
// neighbors.
class Nearest {
 public:
  Nearest(int64_t i, int64_t k) : i_(i), k_(static_cast<size_t>(k)) { heap_.reserve(k_); }

  void offer(int64_t first, int64_t n, const TileDistances& distance2) {
    const int64_t count = std::min(kLanes, n - first);
    for (int64_t lane = 0; lane < count; ++lane) {
      const float d = distance2[static_cast<size_t>(lane)];
      if (d <= limit_ && first + lane != i_) add(d, first + lane);
    }
  }

  void take(int32_t* index, float* distance2) {
    std::sort_heap(heap_.begin(), heap_.end());
    for (size_t at = 0; at < heap_.size(); ++at) {
      std::tie(distance2[at], std::ignore, index[at]) = heap_[at];
    }
  }

 private:
  using Candidate = std::tuple<float, uint64_t, int32_t>;  // squared distance, tie-breaker, index

  void add(float d, int64_t j) {
    const Candidate candidate{d, Random(static_cast<uint64_t>(i_), j).bits(),
                              static_cast<int32_t>(j)};
    if (heap_.size() == k_) {
      if (candidate > heap_.front()) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = candidate;
    } else {
      heap_.push_back(candidate);
    }
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() == k_) limit_ = std::get<0>(heap_.front());
  }

  int64_t i_;
  size_t k_;
  std::vector<Candidate> heap_;
  float limit_ = std::numeric_limits<float>::infinity();
};

}  // namespace

Neighbors nearest_neighbors(std::span<const float> rows, int64_t n, int64_t columns, int64_t k,
                            const std::atomic<bool>* stop) {
  const std::vector<float> tiles = to_tiles(rows, n, columns);
  const auto at = [&](int64_t i) {
    return tiles.data() + i / kLanes * columns * kLanes + i % kLanes;
  };
  Neighbors result{.k = k,
                   .index = std::vector<int32_t>(static_cast<size_t>(n * k)),
                   .distance2 = std::vector<float>(static_cast<size_t>(n * k))};
  constexpr int64_t kQueries = 32;  // queries per tile while it is in cache
  parallel_for(n, kQueries, [&](int64_t first, int64_t last) {
    if (stop != nullptr && stop->load()) return;
    std::vector<Nearest> nearest;
    for (int64_t i = first; i < last; ++i) nearest.emplace_back(i, k);
    TileDistances to_a;
    TileDistances to_b;
    for (int64_t j = 0; j < n; j += kLanes) {
      for (int64_t i = first; i < last; i += 2) {
        const int64_t next = std::min(i + 1, last - 1);
        distances_to_tile(at(i), at(next), at(j), columns, to_a, to_b);
        nearest[static_cast<size_t>(i - first)].offer(j, n, to_a);
        if (next > i) nearest[static_cast<size_t>(next - first)].offer(j, n, to_b);
      }
    }
    for (int64_t i = first; i < last; ++i) {
      nearest[static_cast<size_t>(i - first)].take(result.index.data() + i * k,
                                                   result.distance2.data() + i * k);
    }
  });
  return result;
}

// Bisection of β, starting from the inverse of the mean distance. The entropy in nats is
// H = log Σ_j e(j) + β Σ_j e(j) d(j) / Σ_j e(j) with e(j) = exp(−β d(j)) and d measured from the
// nearest point, so that Σ_j e(j) ≥ 1. If more points than the perplexity are tied for nearest, β
// grows until they share all the probability.
std::vector<double> conditional(std::span<const float> distance2, double perplexity) {
  std::vector<double> d(distance2.begin(), distance2.end());
  double mean = 0;
  for (double& value : d) {
    value -= distance2[0];
    mean += value / static_cast<double>(d.size());
  }
  std::vector<double> p(d.size());
  constexpr double kTolerance = 1e-6;
  constexpr int kSteps = 100;
  double low = 0;
  double high = std::numeric_limits<double>::infinity();
  double beta = mean > 0 ? 1 / mean : 1;
  for (int step = 0; step < kSteps; ++step) {
    double sum = 0;
    double weighted = 0;
    for (size_t j = 0; j < d.size(); ++j) {
      p[j] = std::exp(-beta * d[j]);
      sum += p[j];
      weighted += p[j] * d[j];
    }
    for (double& value : p) value /= sum;
    const double excess = std::log(sum) + beta * weighted / sum - std::log(perplexity);
    if (std::abs(excess) < kTolerance) break;
    (excess > 0 ? low : high) = beta;
    beta = std::isinf(high) ? 2 * beta : (low + high) / 2;
  }
  return p;
}

namespace {

// Sums duplicate columns, which occur if two points are neighbors of each other.
Affinities merged(const Affinities& both) {
  const auto n = static_cast<int64_t>(both.row_ptr.size()) - 1;
  std::vector<std::vector<std::pair<int32_t, float>>> rows(static_cast<size_t>(n));
  parallel_for(n, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      auto& row = rows[static_cast<size_t>(i)];
      for (int64_t at = both.row_ptr[static_cast<size_t>(i)];
           at < both.row_ptr[static_cast<size_t>(i) + 1]; ++at) {
        row.emplace_back(both.column[static_cast<size_t>(at)], both.p[static_cast<size_t>(at)]);
      }
      std::sort(row.begin(), row.end());
      size_t kept = 0;
      for (size_t at = 0; at < row.size(); ++at) {
        if (kept > 0 && row[kept - 1].first == row[at].first) {
          row[kept - 1].second += row[at].second;
        } else {
          row[kept++] = row[at];
        }
      }
      row.resize(kept);
    }
  });
  Affinities result{.row_ptr = {0}, .column = {}, .p = {}};
  for (const auto& row : rows) {
    for (const auto& [column, p] : row) {
      result.column.push_back(column);
      result.p.push_back(p);
    }
    result.row_ptr.push_back(static_cast<int64_t>(result.column.size()));
  }
  return result;
}

}  // namespace

Affinities affinities(const Neighbors& neighbors, double perplexity) {
  const auto k = static_cast<size_t>(neighbors.k);
  const size_t n = neighbors.index.size() / k;
  std::vector<float> p(n * k);  // p(j|i) / 2n
  parallel_for(static_cast<int64_t>(n), kGrain, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      const auto row = conditional(std::span(neighbors.distance2).subspan(i * k, k), perplexity);
      for (size_t j = 0; j < k; ++j) {
        p[i * k + j] = static_cast<float>(row[j] / (2 * static_cast<double>(n)));
      }
    }
  });
  Affinities both{.row_ptr = std::vector<int64_t>(n + 1),
                  .column = std::vector<int32_t>(2 * n * k),
                  .p = std::vector<float>(2 * n * k)};
  for (const int32_t j : neighbors.index) ++both.row_ptr[static_cast<size_t>(j) + 1];
  for (size_t i = 0; i < n; ++i) both.row_ptr[i + 1] += both.row_ptr[i] + neighbors.k;
  std::vector<int64_t> end(both.row_ptr.begin(), both.row_ptr.end() - 1);
  const auto put = [&](size_t row, size_t column, float value) {
    const auto at = static_cast<size_t>(end[row]++);
    both.column[at] = static_cast<int32_t>(column);
    both.p[at] = value;
  };
  for (size_t i = 0; i < n; ++i) {
    for (size_t at = i * k; at < (i + 1) * k; ++at) {
      const auto j = static_cast<size_t>(neighbors.index[at]);
      put(i, j, p[at]);
      put(j, i, p[at]);
    }
  }
  return merged(both);
}

}  // namespace lase::detail
