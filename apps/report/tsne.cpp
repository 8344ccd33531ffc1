#include "report/tsne.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lase/base/error.h"
#include "lase/base/random.h"

namespace lase {
namespace {

using detail::Affinities;
using detail::Point;

bool is_set(const std::atomic<bool>* stop) { return stop != nullptr && stop->load(); }

// Gradient descent with momentum and one gain per coordinate, which grows while the gradient keeps
// its sign.
class Descent {
 public:
  explicit Descent(std::vector<Point> start) : y_(std::move(start)), step_(y_.size()) {
    gain_.assign(y_.size(), {1, 1});
  }

  const std::vector<Point>& y() const { return y_; }

  void step(const std::vector<Point>& gradient, double rate, double momentum) {
    Point mean;
    for (size_t i = 0; i < y_.size(); ++i) {
      move(gradient[i].x, rate, momentum, {gain_[i].x, step_[i].x, y_[i].x});
      move(gradient[i].y, rate, momentum, {gain_[i].y, step_[i].y, y_[i].y});
      mean.x += y_[i].x / static_cast<double>(y_.size());
      mean.y += y_[i].y / static_cast<double>(y_.size());
    }
    for (Point& point : y_) point = {point.x - mean.x, point.y - mean.y};
  }

 private:
  struct Coordinate {
    double& gain;
    double& step;
    double& y;
  };

  static void move(double slope, double rate, double momentum, const Coordinate& at) {
    // The last step went downhill, so equal signs mean that the slope has changed its sign.
    const bool turns = (slope > 0) == (at.step > 0);
    at.gain = std::max(0.01, turns ? at.gain * 0.8 : at.gain + 0.2);
    at.step = momentum * at.step - rate * at.gain * slope;
    at.y += at.step;
  }

  std::vector<Point> y_;
  std::vector<Point> step_;
  std::vector<Point> gain_;
};

// KL(P | Q) = Σ p log(p / q), over the non-zero pairs of P.
double divergence(const Affinities& affinities, std::span<const Point> y, double theta) {
  const double z = detail::repulsion(y, theta).z;
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    for (auto at = static_cast<size_t>(affinities.row_ptr[i]);
         at < static_cast<size_t>(affinities.row_ptr[i + 1]); ++at) {
      const double p = affinities.p[at];
      const Point& other = y[static_cast<size_t>(affinities.column[at])];
      const double dx = y[i].x - other.x;
      const double dy = y[i].y - other.y;
      if (p > 0) sum += p * std::log(p * z * (1 + dx * dx + dy * dy));
    }
  }
  return sum;
}

std::vector<Point> start_of(int64_t n, const TsneOptions& options) {
  constexpr double kSpread = 1e-4;
  std::vector<Point> y;
  for (int64_t i = 0; i < n; ++i) {
    if (options.start.empty()) {
      Random random(options.seed, 0x74534E45, i);
      const double x = kSpread * random.normal();
      y.push_back({x, kSpread * random.normal()});
    } else {
      const float* from = options.start.data() + 2 * i;
      y.push_back({from[0], from[1]});
    }
  }
  return y;
}

void check(std::span<const float> rows, int64_t n, int64_t columns, const TsneOptions& options) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2;
  require(n >= 0 && n <= kMost && columns >= 0 &&
              rows.size() == static_cast<size_t>(n) * static_cast<size_t>(columns),
          "t-SNE: expected ", n, " points × ", columns, " columns, found ", rows.size(), " values");
  for (size_t i = 0; i < rows.size(); ++i) {
    require(std::isfinite(rows[i]), "t-SNE: row ", i / static_cast<size_t>(columns), ", column ",
            i % static_cast<size_t>(columns), " is ", rows[i], ", expected a finite number");
  }
  require(options.start.empty() || options.start.size() == 2 * static_cast<size_t>(n),
          "t-SNE: the initial map has ", options.start.size(), " values, expected ", 2 * n,
          ", two per point");
  for (const float value : options.start) {
    require(std::isfinite(value), "t-SNE: the initial map contains ", value,
            ", expected finite numbers");
  }
  require(options.perplexity >= 1, "t-SNE: perplexity is ", options.perplexity,
          ", expected at least 1");
  require(options.theta >= 0 && options.exaggeration > 0 && options.learning_rate >= 0,
          "t-SNE: theta is ", options.theta, ", exaggeration is ", options.exaggeration,
          " and learning rate is ", options.learning_rate,
          "; expected theta ≥ 0, exaggeration > 0 and learning rate ≥ 0");
}

std::vector<Point> descend(const Affinities& affinities, const TsneOptions& options, int64_t n) {
  const double rate = options.learning_rate > 0 ? options.learning_rate
                                                : static_cast<double>(n) / options.exaggeration;
  const auto report = [&](int64_t iteration, const std::vector<Point>& y) {
    if (!options.progress) return;
    options.progress({.iteration = iteration,
                      .iterations = options.iterations,
                      .divergence = divergence(affinities, y, options.theta)});
  };
  Descent descent(start_of(n, options));
  report(0, descent.y());
  for (int64_t iteration = 1; iteration <= options.iterations; ++iteration) {
    if (is_set(options.stop)) break;
    const bool early = iteration <= options.iterations / 4;
    descent.step(
        detail::gradient(affinities, descent.y(), options.theta, early ? options.exaggeration : 1),
        rate, early ? 0.5 : 0.8);
    if (iteration % 10 == 0 || iteration == options.iterations) report(iteration, descent.y());
  }
  return descent.y();
}

}  // namespace

std::vector<float> tsne(std::span<const float> rows, int64_t n, int64_t columns,
                        const TsneOptions& options) {
  check(rows, n, columns, options);
  std::vector<Point> y = start_of(n, options);
  if (n >= 2) {
    const double perplexity =
        std::max(1.0, std::min(options.perplexity, static_cast<double>(n - 1) / 3));
    const int64_t k = std::min(n - 1, static_cast<int64_t>(3 * perplexity));
    const auto neighbors = detail::nearest_neighbors(rows, n, columns, k, options.stop);
    if (!is_set(options.stop)) {
      y = descend(detail::affinities(neighbors, perplexity), options, n);
    }
  }
  std::vector<float> result;
  for (const Point& point : y) {
    result.push_back(static_cast<float>(point.x));
    result.push_back(static_cast<float>(point.y));
  }
  return result;
}

}  // namespace lase
