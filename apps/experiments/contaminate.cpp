#include "experiments/contaminate.h"

#include <cmath>
#include <numeric>

#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/base/shuffle.h"

namespace lase {
namespace {

std::vector<float> dense_values(const Attributes& matrix) {
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.columns));
  parallel_for(matrix.rows, 1024, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      matrix.copy_row(row, values.data() + row * matrix.columns);
    }
  });
  return values;
}

// Over all entries, including zeros.
double standard_deviation(const std::vector<float>& values) {
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += double{value} * value;
  }
  const auto n = static_cast<double>(values.size());
  return n == 0 ? 0 : std::sqrt(std::max(0.0, squares / n - sum / n * sum / n));
}

}  // namespace

Graph with_noise(const Graph& graph, double snr, uint64_t seed) {
  Graph noisy = graph;
  const Attributes& matrix = graph.link_attributes;
  std::vector<float> values = dense_values(matrix);
  if (std::isfinite(snr)) {
    const double deviation = standard_deviation(values) / snr;
    parallel_for(matrix.rows, 256, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        Random random(seed, row);
        for (int64_t j = 0; j < matrix.columns; ++j) {
          values[static_cast<size_t>(row * matrix.columns + j)] +=
              static_cast<float>(deviation * random.normal());
        }
      }
    });
  }
  noisy.link_attributes = Attributes::dense(std::move(values), matrix.rows, matrix.columns);
  return noisy;
}

Graph with_shuffled_attributes(const Graph& graph, uint64_t seed) {
  Graph shuffled = graph;
  const Attributes& matrix = graph.link_attributes;
  std::vector<int64_t> from(static_cast<size_t>(graph.links));
  std::iota(from.begin(), from.end(), int64_t{0});
  Random random(seed);
  shuffle(from, random);
  // The two rows of a link with separate directions stay together.
  const int64_t rows = graph.separate_directions ? 2 : 1;
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.columns));
  for (int64_t link = 0; link < graph.links; ++link) {
    for (int64_t r = 0; r < rows; ++r) {
      matrix.copy_row(from[static_cast<size_t>(link)] * rows + r,
                      values.data() + (link * rows + r) * matrix.columns);
    }
  }
  shuffled.link_attributes = Attributes::dense(std::move(values), matrix.rows, matrix.columns);
  return shuffled;
}

Graph without_attributes(const Graph& graph) {
  Graph bare = graph;
  bare.link_attributes = {};
  bare.link_attributes.rows = graph.link_attributes.rows;
  bare.attribute_names = {};
  bare.link_reduction = {};
  return bare;
}

}  // namespace lase
