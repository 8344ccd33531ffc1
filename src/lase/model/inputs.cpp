#include "lase/model/inputs.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <c10/core/GradMode.h>
#include <cmath>
#include <cstddef>
#include <vector>

#include "lase/base/large_memory.h"
#include "lase/base/names.h"
#include "lase/base/parallel.h"
#include "lase/ops/linear.h"

namespace lase {

using at::Tensor;

namespace {

struct Moments {
  Tensor mean;
  Tensor scale;  // 1 / standard deviation
};

Moments identity(int64_t columns) {
  return {at::zeros({columns}, at::kFloat), at::ones({columns}, at::kFloat)};
}

// Σ x and Σ x² by column.
class Sums {
 public:
  explicit Sums(const Attributes& matrix)
      : matrix_(matrix),
        sum_(static_cast<size_t>(matrix.columns)),
        squares_(sum_.size()),
        // Rows that share one of not too many codes are counted, and read once.
        times_(matrix.layout == Layout::kCoded && matrix.codes() <= kMostCodes
                   ? static_cast<size_t>(matrix.codes())
                   : 0) {}

  void add(int64_t row) {
    ++rows_;
    if (!times_.empty()) {
      ++times_[static_cast<size_t>(matrix_.code[row])];
      return;
    }
    matrix_.for_each(row, [&](int64_t j, float value) { add(j, double{value}, 1); });
  }

  void add(const Sums& other) {
    rows_ += other.rows_;
    for (size_t j = 0; j < sum_.size(); ++j) {
      sum_[j] += other.sum_[j];
      squares_[j] += other.squares_[j];
    }
    for (size_t code = 0; code < times_.size(); ++code) times_[code] += other.times_[code];
  }

  Moments moments() {
    for (size_t code = 0; code < times_.size(); ++code) {
      for (int64_t j = 0; j < matrix_.columns && times_[code] > 0; ++j) {
        add(j, double{matrix_.values[static_cast<int64_t>(code) * matrix_.columns + j]},
            static_cast<double>(times_[code]));
      }
    }
    times_.clear();
    Moments result = identity(matrix_.columns);
    const auto n = static_cast<double>(rows_);
    for (size_t j = 0; j < sum_.size() && rows_ > 0; ++j) {
      const double mean = sum_[j] / n;
      const double variance = squares_[j] / n - mean * mean;
      // Rounding leaves a little variance in a column that never varies.
      constexpr double kNothing = 1e-10;
      if (variance <= kNothing * (squares_[j] / n)) continue;
      result.mean.data_ptr<float>()[j] = static_cast<float>(mean);
      result.scale.data_ptr<float>()[j] = static_cast<float>(1 / std::sqrt(variance));
    }
    return result;
  }

 private:
  void add(int64_t j, double value, double times) {
    sum_[static_cast<size_t>(j)] += times * value;
    squares_[static_cast<size_t>(j)] += times * value * value;
  }

  static constexpr int64_t kMostCodes = 1 << 16;
  const Attributes& matrix_;
  std::vector<double> sum_;
  std::vector<double> squares_;
  std::vector<int64_t> times_;  // by code
  int64_t rows_ = 0;
};

// Of the rows that add_rows(u, sums) adds for every node u. Pieces do not depend on the number of
// threads.
template <class AddRows>
Moments moments(const Attributes& matrix, int64_t nodes, const AddRows& add_rows) {
  if (matrix.layout == Layout::kSparse) return identity(matrix.columns);
  constexpr int64_t kPieces = 32;
  const int64_t piece = std::max<int64_t>(4096, (nodes + kPieces - 1) / kPieces);
  std::vector<Sums> parts(static_cast<size_t>((nodes + piece - 1) / piece), Sums(matrix));
  parallel_for(nodes, piece, [&](int64_t first, int64_t last) {
    Sums& sums = parts[static_cast<size_t>(first / piece)];
    for (int64_t u = first; u < last; ++u) add_rows(u, sums);
  });
  Sums all(matrix);
  for (const auto& part : parts) all.add(part);
  return all.moments();
}

}  // namespace

Scaling fit_scaling(const Graph& graph, const std::vector<bool>& training, NodeScaling nodes) {
  const int64_t n = graph.node_count();
  Moments node = identity(graph.nodes.features.columns);
  if (nodes == NodeScaling::kStandard) {
    node = moments(graph.nodes.features, n, [&](int64_t u, Sums& sums) {
      if (training[static_cast<size_t>(u)]) sums.add(u);
    });
  }
  const Moments link = moments(graph.link_attributes, n, [&](int64_t u, Sums& sums) {
    for (int64_t i = graph.row_ptr[u]; training[static_cast<size_t>(u)] && i < graph.row_ptr[u + 1];
         ++i) {
      if (training[static_cast<size_t>(graph.neighbor[i])]) sums.add(graph.link[i]);
    }
  });
  return {.nodes = nodes,
          .node_mean = node.mean,
          .node_scale = node.scale,
          .link_mean = link.mean,
          .link_scale = link.scale};
}

Attributes degree_features(const Graph& graph) {
  std::vector<float> values;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    values.push_back(1);
    values.push_back(std::log1p(static_cast<float>(graph.degree(u))));
  }
  return Attributes::dense(std::move(values), graph.node_count(), 2);
}

namespace {

// Rows of features as a model reads them.
Tensor scaled(Tensor x, Layout layout, const Scaling& scaling) {
  if (scaling.nodes == NodeScaling::kRow) return x / x.abs().sum(1, true).clamp_min(1e-12);
  if (scaling.nodes == NodeScaling::kStandard && layout != Layout::kSparse) {
    return (x - scaling.node_mean) * scaling.node_scale;
  }
  return x;
}

// Rows of it are read at random, once for every arc.
Tensor large_matrix(int64_t rows, int64_t columns, at::ScalarType type) {
  const auto memory =
      large_memory<std::byte>(rows * columns * static_cast<int64_t>(at::elementSize(type)));
  return at::from_blob(
      memory.get(), {rows, columns}, [memory](void*) {}, type);
}

// Dense features as a model reads them: where they are, or a copy made once.
Tensor dense_features(const ops::AttributeTensors& features, const Scaling& scaling) {
  const bool in_place = features.layout == Layout::kDense;
  if (in_place && scaling.nodes == NodeScaling::kNone) return features.values;
  Tensor matrix = large_matrix(features.rows, features.columns, scaling.node_mean.scalar_type());
  constexpr int64_t kNodes = 1024;
  parallel_for(features.rows, kNodes, [&](int64_t first, int64_t last) {
    c10::NoGradGuard in_this_thread;
    const Tensor rows = in_place
                            ? features.values.slice(0, first, last)
                            : ops::attribute_rows(features, at::arange(first, last, at::kLong));
    matrix.slice(0, first, last).copy_(scaled(rows, features.layout, scaling));
  });
  return matrix;
}

}  // namespace

Inputs::Inputs(const Graph& graph, const Scaling& scaling, ScaleWhen when)
    : scaling_(scaling), features_(graph.nodes.features) {
  if (features_.layout != Layout::kSparse && when == ScaleWhen::kAhead) {
    matrix_ = dense_features(features_, scaling);
  }
  links_.f = ops::AttributeTensors(graph.link_attributes);
  links_.mean = scaling.link_mean;
  links_.scale = scaling.link_scale;
}

Inputs Inputs::to(const at::Device& device) const {
  Inputs moved = *this;
  moved.features_ = features_.to(device);
  moved.links_.f = links_.f.to(device);
  for (Tensor* x :
       {&moved.scaling_.node_mean, &moved.scaling_.node_scale, &moved.scaling_.link_mean,
        &moved.scaling_.link_scale, &moved.matrix_, &moved.links_.mean, &moved.links_.scale}) {
    if (x->defined()) *x = x->to(device);
  }
  return moved;
}

ops::Rows Inputs::rows(const Tensor& nodes) const {
  if (matrix_.defined()) return {matrix_, nodes};
  const Tensor x = ops::attribute_rows(
      features_, nodes.defined() ? nodes : at::arange(features_.rows, at::kLong));
  return {scaled(x, features_.layout, scaling_), {}};
}

Tensor Inputs::projected(const Tensor& nodes, const Tensor& w) const {
  if (scaling_.nodes == NodeScaling::kRow || features_.layout != Layout::kSparse) {
    return ops::linear(rows(nodes), w);
  }
  return ops::attribute_product(features_,
                                nodes.defined() ? nodes : at::arange(features_.rows, at::kLong), w);
}

}  // namespace lase
