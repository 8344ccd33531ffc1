#include "lase/model/inputs.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <cmath>
#include <cstddef>
#include <span>

#include "lase/base/large_memory.h"
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

Moments moments(const Attributes& matrix, std::span<const int64_t> rows) {
  Moments result = identity(matrix.columns);
  if (matrix.layout == Layout::kSparse || rows.empty()) return result;
  std::vector<double> sum(static_cast<size_t>(matrix.columns));
  std::vector<double> squares(sum.size());
  for (const int64_t row : rows) {
    matrix.for_each(row, [&](int64_t j, float value) {
      sum[static_cast<size_t>(j)] += double{value};
      squares[static_cast<size_t>(j)] += double{value} * double{value};
    });
  }
  const auto n = static_cast<double>(rows.size());
  for (size_t j = 0; j < sum.size(); ++j) {
    const double mean = sum[j] / n;
    const double variance = squares[j] / n - mean * mean;
    // Rounding leaves a little variance in a column that never varies.
    constexpr double kNothing = 1e-10;
    if (variance <= kNothing * (squares[j] / n)) continue;
    result.mean.data_ptr<float>()[j] = static_cast<float>(mean);
    result.scale.data_ptr<float>()[j] = static_cast<float>(1 / std::sqrt(variance));
  }
  return result;
}

}  // namespace

Scaling fit_scaling(const Graph& graph, const std::vector<bool>& training, NodeScaling nodes) {
  std::vector<int64_t> node_rows;
  std::vector<int64_t> link_rows;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (!training[static_cast<size_t>(u)]) continue;
    node_rows.push_back(u);
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      if (training[static_cast<size_t>(graph.neighbor[i])]) link_rows.push_back(graph.link[i]);
    }
  }
  const bool standard = nodes == NodeScaling::kStandard;
  const Moments node =
      standard ? moments(graph.nodes.features, node_rows) : identity(graph.nodes.features.columns);
  const Moments link = moments(graph.link_attributes, link_rows);
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
