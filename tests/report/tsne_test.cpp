// Each step of t-SNE against a brute-force computation in double, and the complete map.

#include "report/tsne.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"

#include "support.h"

namespace lase {
namespace {

using detail::Affinities;
using detail::Point;

Floats random_rows(int64_t n, int64_t columns, uint64_t seed) {
  Random random(seed);
  Floats rows(static_cast<size_t>(n * columns));
  for (float& value : rows) value = static_cast<float>(random.normal());
  return rows;
}

// Points around well-separated centers; point i belongs to cluster i mod clusters.
Floats clustered_rows(int64_t n, int64_t columns, int64_t clusters, uint64_t seed) {
  Floats rows = random_rows(n, columns, seed);
  for (int64_t i = 0; i < n; ++i) rows[static_cast<size_t>(i * columns + i % clusters)] += 20;
  return rows;
}

std::vector<Point> random_points(int64_t n, double spread, uint64_t seed) {
  Random random(seed);
  std::vector<Point> y(static_cast<size_t>(n));
  for (Point& point : y) point = {spread * random.normal(), spread * random.normal()};
  return y;
}

std::vector<Point> points_of(const Floats& map) {
  std::vector<Point> y;
  for (size_t i = 0; i < map.size(); i += 2) y.push_back({map[i], map[i + 1]});
  return y;
}

double distance2(const Point& a, const Point& b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

// Mean fraction of the k nearest neighbors on the map that are in the same cluster.
double purity(const std::vector<Point>& y, size_t clusters, size_t k) {
  double right = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    std::vector<size_t> order(y.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase(order, i);
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return distance2(y[i], y[a]) < distance2(y[i], y[b]); });
    for (size_t at = 0; at < k; ++at) right += order[at] % clusters == i % clusters ? 1 : 0;
  }
  return right / static_cast<double>(k * y.size());
}

void expect_finite(const Floats& map, size_t n) {
  ASSERT_EQ(map.size(), 2 * n);
  for (const float value : map) EXPECT_TRUE(std::isfinite(value));
}

struct ExactRepulsion {
  std::vector<Point> force;
  double z = 0;
};

ExactRepulsion exact_repulsion(const std::vector<Point>& y) {
  ExactRepulsion result{.force = std::vector<Point>(y.size())};
  for (size_t i = 0; i < y.size(); ++i) {
    for (size_t j = 0; j < y.size(); ++j) {
      if (i == j) continue;
      const double w = 1 / (1 + distance2(y[i], y[j]));
      result.z += w;
      result.force[i].x += w * w * (y[i].x - y[j].x);
      result.force[i].y += w * w * (y[i].y - y[j].y);
    }
  }
  return result;
}

double largest(const std::vector<Point>& points) {
  double most = 0;
  for (const Point& p : points) most = std::max({most, std::abs(p.x), std::abs(p.y)});
  return most;
}

void expect_close(const std::vector<Point>& found, const std::vector<Point>& expected,
                  double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  const double scale = largest(expected) + 1e-300;
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].x / scale, expected[i].x / scale, tolerance) << "point " << i;
    EXPECT_NEAR(found[i].y / scale, expected[i].y / scale, tolerance) << "point " << i;
  }
}

Affinities affinities_of(const Floats& rows, int64_t n, int64_t columns, double perplexity) {
  const auto k = static_cast<int64_t>(3 * perplexity);
  return detail::affinities(detail::nearest_neighbors(rows, n, columns, k), perplexity);
}

TEST(Tsne, FindsTheNearestNeighbors) {
  const int64_t n = 203;
  const int64_t columns = 7;
  const int64_t k = 12;
  const Floats rows = random_rows(n, columns, 1);
  const auto found = detail::nearest_neighbors(rows, n, columns, k);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<std::pair<double, int32_t>> all;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c) {
        const double d = rows[static_cast<size_t>(i * columns + c)] -
                         double{rows[static_cast<size_t>(j * columns + c)]};
        sum += d * d;
      }
      if (i != j) all.emplace_back(sum, static_cast<int32_t>(j));
    }
    std::sort(all.begin(), all.end());
    for (int64_t at = 0; at < k; ++at) {
      EXPECT_EQ(found.index[static_cast<size_t>(i * k + at)], all[static_cast<size_t>(at)].second);
    }
  }
}

TEST(Tsne, CopiesOfAPointHaveDifferentNeighbors) {
  const auto found = detail::nearest_neighbors(Floats(600, 1.5F), 200, 3, 5);
  std::vector<int> times(200);
  for (const int32_t j : found.index) ++times[static_cast<size_t>(j)];
  EXPECT_LT(*std::max_element(times.begin(), times.end()), 25);
  for (size_t i = 0; i < 200; ++i) {
    for (size_t at = 0; at < 5; ++at) EXPECT_NE(found.index[i * 5 + at], static_cast<int32_t>(i));
  }
}

TEST(Tsne, MatchesTheRequestedPerplexityAtEveryPoint) {
  const int64_t n = 400;
  const auto neighbors = detail::nearest_neighbors(clustered_rows(n, 8, 3, 2), n, 8, 60);
  for (const double perplexity : {1.5, 5.0, 20.0, 50.0}) {
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
      const auto p =
          detail::conditional(std::span(neighbors.distance2).subspan(i * 60, 60), perplexity);
      double entropy = 0;
      for (const double share : p) entropy -= share > 0 ? share * std::log2(share) : 0;
      EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
      EXPECT_NEAR(std::exp2(entropy), perplexity, 1e-4 * perplexity);
      EXPECT_TRUE(std::is_sorted(p.rbegin(), p.rend()));
    }
  }
}

TEST(Tsne, SplitsProbabilityEvenlyIfTiesExceedThePerplexity) {
  const auto p = detail::conditional(Floats{1, 1, 1, 1, 2, 3}, 2);
  for (size_t j = 0; j < 4; ++j) EXPECT_NEAR(p[j], 0.25, 1e-9);
  for (const double share : detail::conditional(Floats(6, 0.0F), 2))
    EXPECT_NEAR(share, 1 / 6., 1e-9);
}

TEST(Tsne, AffinitiesAreSymmetricAndSumToOne) {
  const int64_t n = 150;
  const int64_t k = 15;
  const auto neighbors = detail::nearest_neighbors(random_rows(n, 4, 3), n, 4, k);
  std::vector<double> expected(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i * k);
    const auto p = detail::conditional(std::span(neighbors.distance2).subspan(at, k), 5);
    for (size_t j = 0; j < p.size(); ++j) {
      const int64_t other = neighbors.index[at + j];
      expected[static_cast<size_t>(i * n + other)] += p[j] / (2.0 * n);
      expected[static_cast<size_t>(other * n + i)] += p[j] / (2.0 * n);
    }
  }
  const Affinities found = detail::affinities(neighbors, 5);
  double sum = 0;
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    for (auto at = static_cast<size_t>(found.row_ptr[i]);
         at < static_cast<size_t>(found.row_ptr[i + 1]); ++at) {
      double& cell = expected[i * static_cast<size_t>(n) + static_cast<size_t>(found.column[at])];
      EXPECT_GT(cell, 0);
      EXPECT_NEAR(found.p[at] / cell, 1, 1e-5);
      cell = 0;
      sum += found.p[at];
    }
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_EQ(std::accumulate(expected.begin(), expected.end(), 0.0), 0) << "missing pairs";
}

TEST(Tsne, GradientIsExactForThetaZero) {
  const int64_t n = 333;
  const Affinities p = affinities_of(random_rows(n, 5, 4), n, 5, 10);
  for (const double spread : {1e-4, 1.0, 30.0}) {
    const auto y = random_points(n, spread, 5);
    const ExactRepulsion apart = exact_repulsion(y);
    std::vector<Point> expected(y.size());
    for (size_t i = 0; i < y.size(); ++i) {
      expected[i] = {-apart.force[i].x / apart.z, -apart.force[i].y / apart.z};
      for (auto at = static_cast<size_t>(p.row_ptr[i]); at < static_cast<size_t>(p.row_ptr[i + 1]);
           ++at) {
        const Point& other = y[static_cast<size_t>(p.column[at])];
        const double share = 4 * double{p.p[at]} / (1 + distance2(y[i], other));
        expected[i].x += share * (y[i].x - other.x);
        expected[i].y += share * (y[i].y - other.y);
      }
    }
    expect_close(detail::gradient(p, y, 0, 4), expected, 1e-12);
  }
}

TEST(Tsne, BarnesHutRepulsionIsCloseToExact) {
  const auto y = random_points(3000, 20, 6);
  const ExactRepulsion expected = exact_repulsion(y);
  const auto found = detail::repulsion(y, 0.5);
  EXPECT_NEAR(found.z / expected.z, 1, 1e-2);
  expect_close(found.force, expected.force, 2e-2);
  // Some cells are approximated by one point: otherwise the tree would be useless.
  EXPECT_NE(found.z, detail::repulsion(y, 0).z);
}

TEST(Tsne, RepulsionIsExactForCoincidentPoints) {
  auto y = random_points(100, 1, 7);
  for (size_t i = 0; i < 60; ++i) y[i] = y[99];  // more points than a leaf holds
  const ExactRepulsion expected = exact_repulsion(y);
  const auto found = detail::repulsion(y, 0);
  EXPECT_NEAR(found.z / expected.z, 1, 1e-9);
  expect_close(found.force, expected.force, 1e-9);

  // A single cell; all pairs would take minutes.
  const auto one = detail::repulsion(std::vector<Point>(200000, Point{3, 4}), 0.5);
  EXPECT_NEAR(one.z / (200000.0 * 199999), 1, 1e-9);
  EXPECT_NEAR(largest(one.force), 0, 1e-3);
}

TEST(Tsne, DecreasesTheDivergence) {
  const int64_t n = 200;
  std::vector<TsneReport> reports;
  tsne(random_rows(n, 6, 8), n, 6, {.iterations = 305, .progress = [&](const TsneReport& report) {
                                      reports.push_back(report);
                                    }});
  ASSERT_EQ(reports.size(), 32);  // 0, 10, …, 300, 305
  EXPECT_EQ(reports.front().iteration, 0);
  EXPECT_EQ(reports.back().iteration, 305);
  EXPECT_EQ(reports.back().iterations, 305);
  EXPECT_LT(reports.back().divergence, 0.6 * reports.front().divergence);
  EXPECT_LE(reports.back().divergence, reports[reports.size() / 2].divergence);
}

TEST(Tsne, SeparatesClusters) {
  const int64_t n = 300;
  for (const double perplexity : {10.0, 30.0}) {
    const Floats map =
        tsne(clustered_rows(n, 10, 3, 9), n, 10, {.perplexity = perplexity, .iterations = 400});
    expect_finite(map, n);
    EXPECT_GT(purity(points_of(map), 3, 15), 0.99);
  }
}

TEST(Tsne, IsCentered) {
  const int64_t n = 50;
  double x = 0;
  double y = 0;
  for (const Point& point : points_of(tsne(random_rows(n, 3, 10), n, 3, {.iterations = 60}))) {
    x += point.x;
    y += point.y;
  }
  EXPECT_NEAR(x, 0, 1e-3);
  EXPECT_NEAR(y, 0, 1e-3);
}

TEST(Tsne, IsTheSameForAnyNumberOfThreads) {
  const int64_t n = 1100;
  const Floats rows = clustered_rows(n, 9, 4, 11);
  const auto map = [&](int threads) {
    const ThreadLimit limit(threads);
    return tsne(rows, n, 9, {.iterations = 60});
  };
  const Floats one = map(1);
  for (const int threads : {2, 5}) EXPECT_EQ(map(threads), one) << threads << " threads";
  EXPECT_NE(tsne(rows, n, 9, {.iterations = 60, .seed = 2}), one);
}

TEST(Tsne, DoesNotDependOnTheScaleOfTheRows) {
  const int64_t n = 60;
  Floats rows = random_rows(n, 4, 12);
  const Floats map = tsne(rows, n, 4, {.iterations = 50});
  for (float& value : rows) value = std::ldexp(value, 100);  // the squares overflow
  EXPECT_EQ(tsne(rows, n, 4, {.iterations = 50}), map);
}

TEST(Tsne, AcceptsAnInitialMap) {
  const int64_t n = 40;
  const Floats rows = random_rows(n, 4, 13);
  const Floats start = random_rows(n, 2, 14);
  EXPECT_EQ(tsne(rows, n, 4, {.iterations = 0, .start = start}), start);
  EXPECT_NE(tsne(rows, n, 4, {.iterations = 5, .start = start}),
            tsne(rows, n, 4, {.iterations = 5}));
}

TEST(Tsne, MapsFewPoints) {
  for (int64_t n = 0; n <= 9; ++n) {
    expect_finite(tsne(random_rows(n, 3, 15), n, 3, {}), static_cast<size_t>(n));
  }
  expect_finite(tsne({}, 12, 0, {}), 12);  // no columns: all points are equal
}

TEST(Tsne, MapsIdenticalPoints) {
  for (const int64_t n : {2, 3, 10, 500}) {
    expect_finite(tsne(Floats(static_cast<size_t>(n * 4), 2.5F), n, 4, {.iterations = 100}),
                  static_cast<size_t>(n));
  }
  Floats rows = random_rows(300, 4, 16);
  std::fill(rows.begin(), rows.begin() + 800, 0.0F);
  expect_finite(tsne(rows, 300, 4, {.iterations = 200}), 300);
  // All points start at the same position, where the forces cancel.
  const Floats together(600, 1.0F);
  expect_finite(tsne(rows, 300, 4, {.iterations = 20, .start = together}), 300);
}

TEST(Tsne, CapsThePerplexity) {
  const int64_t n = 20;
  const Floats rows = random_rows(n, 4, 17);
  EXPECT_EQ(tsne(rows, n, 4, {.perplexity = 1000, .iterations = 50}),
            tsne(rows, n, 4, {.perplexity = 19 / 3., .iterations = 50}));
}

TEST(Tsne, Stops) {
  const int64_t n = 100;
  const Floats rows = random_rows(n, 4, 18);
  std::atomic<bool> stop = false;
  int64_t last = 0;
  const auto progress = [&](const TsneReport& report) {
    last = report.iteration;
    stop = report.iteration >= 20;
  };
  expect_finite(tsne(rows, n, 4, {.progress = progress, .stop = &stop}), 100);
  EXPECT_EQ(last, 20);
  expect_finite(tsne(rows, n, 4, {.progress = progress, .stop = &stop}),
                100);  // stopped before it starts
}

TEST(Tsne, RejectsNonFiniteValues) {
  Floats rows = random_rows(10, 4, 19);
  rows[4 * 3 + 2] = std::numeric_limits<float>::quiet_NaN();
  expect_error([&] { tsne(rows, 10, 4, {}); }, {"row 3, column 2", "nan"});
  rows[4 * 3 + 2] = std::numeric_limits<float>::infinity();
  expect_error([&] { tsne(rows, 10, 4, {}); }, {"row 3, column 2", "inf"});
}

TEST(Tsne, RejectsInvalidSizesAndOptions) {
  const Floats rows = random_rows(10, 4, 20);
  const Floats start = random_rows(9, 2, 21);
  expect_error([&] { tsne(rows, 11, 4, {}); }, {"11 points", "40 values"});
  expect_error([&] { tsne(rows, 10, 4, {.start = start}); }, {"18 values", "20"});
  expect_error([&] { tsne(rows, 10, 4, {.perplexity = 0.5}); }, {"perplexity", "0.5"});
  expect_error([&] { tsne(rows, 10, 4, {.theta = -1}); }, {"theta is -1"});
}

}  // namespace
}  // namespace lase
