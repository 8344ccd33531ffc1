#include "lase/model/inputs.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <c10/core/GradMode.h>
#include <cmath>
#include <cstddef>
#include <vector>

#include "lase/base/large_memory.h"
#include "lase/base/memory.h"
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
        stored_(sum_.size()),
        // With few codes, rows are counted by code and every code is read once.
        count_(matrix.layout == Layout::kDictionary && matrix.codes() <= kMaxCodes
                   ? static_cast<size_t>(matrix.codes())
                   : 0) {}

  void add(int64_t row) {
    ++rows_;
    if (!count_.empty()) {
      ++count_[static_cast<size_t>(matrix_.code[row])];
      return;
    }
    matrix_.for_each(row, [&](int64_t j, float value) { add(j, double{value}, 1); });
  }

  void add(const Sums& other) {
    rows_ += other.rows_;
    for (size_t j = 0; j < sum_.size(); ++j) {
      sum_[j] += other.sum_[j];
      squares_[j] += other.squares_[j];
      stored_[j] += other.stored_[j];
    }
    for (size_t code = 0; code < count_.size(); ++code) count_[code] += other.count_[code];
  }

  Moments moments() {
    if (matrix_.layout == Layout::kSparse) return scale_of_large_columns();
    for (size_t code = 0; code < count_.size(); ++code) {
      for (int64_t j = 0; j < matrix_.columns && count_[code] > 0; ++j) {
        add(j, double{matrix_.values[static_cast<int64_t>(code) * matrix_.columns + j]},
            static_cast<double>(count_[code]));
      }
    }
    count_.clear();
    Moments result = identity(matrix_.columns);
    const auto n = static_cast<double>(rows_);
    for (size_t j = 0; j < sum_.size() && rows_ > 0; ++j) {
      const double mean = sum_[j] / n;
      const double variance = squares_[j] / n - mean * mean;
      // Rounding leaves a little variance in a constant column.
      constexpr double kTolerance = 1e-10;
      if (variance <= kTolerance * (squares_[j] / n)) continue;
      result.mean.data_ptr<float>()[j] = static_cast<float>(mean);
      result.scale.data_ptr<float>()[j] = static_cast<float>(1 / std::sqrt(variance));
    }
    return result;
  }

 private:
  void add(int64_t j, double value, double count) {
    sum_[static_cast<size_t>(j)] += count * value;
    squares_[static_cast<size_t>(j)] += count * value * value;
    stored_[static_cast<size_t>(j)] += count;
  }

  // Sparse columns are not shifted; those whose stored values are large, such as amounts, are
  // divided by their root mean square.
  Moments scale_of_large_columns() const {
    constexpr double kLarge = 10;
    Moments result = identity(matrix_.columns);
    for (size_t j = 0; j < squares_.size(); ++j) {
      const double root_mean_square = stored_[j] > 0 ? std::sqrt(squares_[j] / stored_[j]) : 0;
      if (root_mean_square <= kLarge) continue;
      result.scale.data_ptr<float>()[j] = static_cast<float>(1 / root_mean_square);
    }
    return result;
  }

  static constexpr int64_t kMaxCodes = 1 << 16;
  const Attributes& matrix_;
  std::vector<double> sum_;
  std::vector<double> squares_;
  std::vector<double> stored_;  // values
  std::vector<int64_t> count_;  // rows per code
  int64_t rows_ = 0;
};

// Moments of the rows that add_rows(u, sums) adds for every node u. The chunks, and so the result,
// do not depend on the number of threads.
template <class AddRows>
Moments moments(const Attributes& matrix, int64_t nodes, const AddRows& add_rows) {
  constexpr int64_t kChunks = 32;
  const int64_t chunk = std::max<int64_t>(4096, (nodes + kChunks - 1) / kChunks);
  std::vector<Sums> partial(static_cast<size_t>((nodes + chunk - 1) / chunk), Sums(matrix));
  parallel_for(nodes, chunk, [&](int64_t first, int64_t last) {
    Sums& sums = partial[static_cast<size_t>(first / chunk)];
    for (int64_t u = first; u < last; ++u) add_rows(u, sums);
  });
  Sums all(matrix);
  for (const auto& sums : partial) all.add(sums);
  return all.moments();
}

}  // namespace

namespace {

// 2 / √(mean of ‖learned features‖²) over the training nodes
double learned_scale(const Attributes& features, const std::vector<bool>& training,
                     int64_t learned) {
  double squares = 0;
  double rows = 0;
  for (int64_t u = 0; u < features.rows; ++u) {
    if (!training[static_cast<size_t>(u)]) continue;
    ++rows;
    features.for_each(u, [&](int64_t j, float value) {
      if (j >= features.columns - learned) squares += double{value} * double{value};
    });
  }
  constexpr double kLength = 2;
  return squares > 0 ? kLength / std::sqrt(squares / rows) : 1;
}

}  // namespace

Scaling fit_scaling(const Graph& graph, const std::vector<bool>& training, NodeScaling nodes,
                    int64_t learned) {
  const int64_t n = graph.node_count();
  Moments node = identity(graph.nodes.features.columns);
  if (nodes == NodeScaling::kAuto) {
    const bool sparse = graph.nodes.features.layout == Layout::kSparse;
    nodes = sparse ? NodeScaling::kL2 : NodeScaling::kStandard;
  }
  if (nodes == NodeScaling::kL2 && learned > 0) {
    const int64_t own = graph.nodes.features.columns - learned;
    node.scale.narrow(0, own, learned)
        .fill_(learned_scale(graph.nodes.features, training, learned));
  }
  if (nodes == NodeScaling::kStandard && graph.nodes.features.layout != Layout::kSparse) {
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
          .learned = learned,
          .node_mean = node.mean,
          .node_scale = node.scale,
          .link_mean = link.mean,
          .link_scale = link.scale};
}

void fit_target_scaling(const LinkTargets& targets, std::span<const int64_t> training,
                        Scaling& scaling) {
  const Moments target =
      moments(targets.attributes, std::ssize(training),
              [&](int64_t i, Sums& sums) { sums.add(training[static_cast<size_t>(i)]); });
  scaling.target_mean = target.mean;
  scaling.target_scale = target.scale;
}

Attributes constant_feature(int64_t nodes) {
  return Attributes::dense(std::vector<float>(static_cast<size_t>(nodes), 1.0F), nodes, 1);
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

// Scaled rows of features.
Tensor scaled(Tensor x, Layout layout, const Scaling& scaling) {
  constexpr double kSmallest = 1e-12;
  if (scaling.nodes == NodeScaling::kRow) return x / x.abs().sum(1, true).clamp_min(kSmallest);
  if (scaling.nodes == NodeScaling::kL2) {
    const Tensor own = x.narrow(1, 0, x.size(1) - scaling.learned);
    return x * scaling.node_scale /
           at::cat({own.norm(2, 1, true).clamp_min(kSmallest).expand_as(own),
                    at::ones({x.size(0), scaling.learned}, x.options())},
                   1);
  }
  if (scaling.nodes == NodeScaling::kStandard && layout != Layout::kSparse) {
    return (x - scaling.node_mean) * scaling.node_scale;
  }
  return x;
}

// Sparse features scaled by kL2, in place of the stored values.
Tensor l2_scaled_values(const ops::AttributeTensors& f, const Scaling& scaling) {
  require_memory(static_cast<double>(f.values.size(0)) * sizeof(float), "scaled node features",
                 "set ", OptionName{"scale"}, " none");
  Tensor values = f.values.clone();
  const auto* row_ptr = f.row_ptr.data_ptr<int64_t>();
  const auto* column = f.column.data_ptr<int32_t>();
  const auto* scale = scaling.node_scale.data_ptr<float>();
  auto* value = values.data_ptr<float>();
  const int64_t own = f.columns - scaling.learned;
  constexpr int64_t kNodes = 1024;
  parallel_for(f.rows, kNodes, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      double squares = 0;
      for (int64_t i = row_ptr[u]; i < row_ptr[u + 1]; ++i) {
        if (column[i] < own) squares += double{value[i]} * double{value[i]};
      }
      const auto factor = static_cast<float>(squares > 0 ? 1 / std::sqrt(squares) : 0);
      for (int64_t i = row_ptr[u]; i < row_ptr[u + 1]; ++i) {
        value[i] *= column[i] < own ? factor : scale[column[i]];
      }
    }
  });
  return values;
}

// In huge pages: its rows are read in random order, once per arc.
Tensor large_matrix(int64_t rows, int64_t columns, at::ScalarType type) {
  const auto memory =
      large_memory<std::byte>(rows * columns * static_cast<int64_t>(at::elementSize(type)));
  return at::from_blob(
      memory.get(), {rows, columns}, [memory](void*) {}, type);
}

void require_features(int64_t rows, int64_t columns) {
  require_memory(static_cast<double>(rows) * static_cast<double>(columns) * sizeof(float),
                 "dense node features", "reduce them with PCA when importing the graph");
}

// Scaled dense features: in place if no scaling is needed, otherwise a copy.
Tensor dense_features(const ops::AttributeTensors& features, const Scaling& scaling) {
  const bool in_place = features.layout == Layout::kDense;
  if (in_place && scaling.nodes == NodeScaling::kNone) return features.values;
  require_features(features.rows, features.columns);
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
  if (features_.layout == Layout::kSparse && scaling.nodes == NodeScaling::kL2) {
    features_.values = l2_scaled_values(features_, scaling);
    scaling_.nodes = NodeScaling::kNone;
  }
  if (features_.layout != Layout::kSparse && when == ScaleWhen::kAhead) {
    matrix_ = dense_features(features_, scaling);
  }
  const auto scaled_links = [](const Attributes& f, const Tensor& mean, const Tensor& scale) {
    LinkAttributes links{ops::AttributeTensors(f), {}, {}};
    if (mean.any().item<bool>()) links.mean = mean;
    if (scale.ne(1).any().item<bool>()) links.scale = scale;
    return links;
  };
  links_ = scaled_links(graph.link_attributes, scaling.link_mean, scaling.link_scale);
  if (scaling.target_mean.defined()) {
    targets_ = scaled_links(graph.targets.attributes, scaling.target_mean, scaling.target_scale);
  }
}

Inputs Inputs::to(const at::Device& device) const {
  Inputs moved = *this;
  moved.device_ = device;
  moved.features_ = features_.to(device);
  moved.links_.f = links_.f.to(device);
  moved.targets_.f = targets_.f.to(device);
  for (Tensor* x :
       {&moved.scaling_.node_mean, &moved.scaling_.node_scale, &moved.scaling_.link_mean,
        &moved.scaling_.link_scale, &moved.matrix_, &moved.links_.mean, &moved.links_.scale,
        &moved.targets_.mean, &moved.targets_.scale}) {
    if (x->defined()) *x = x->to(device);
  }
  return moved;
}

Tensor Inputs::all_nodes() const {
  return at::arange(features_.rows, at::TensorOptions(device_).dtype(at::kLong));
}

ops::Rows Inputs::rows(const Tensor& nodes) const {
  if (matrix_.defined()) return {matrix_, nodes};
  require_features(nodes.defined() ? nodes.size(0) : features_.rows, features_.columns);
  const Tensor x = ops::attribute_rows(features_, nodes.defined() ? nodes : all_nodes());
  return {scaled(x, features_.layout, scaling_), {}};
}

Tensor Inputs::projected(const Tensor& nodes, const Tensor& w, const ops::Dropout& dropout) const {
  if (scaling_.nodes == NodeScaling::kRow || features_.layout != Layout::kSparse) {
    return ops::linear(rows(nodes), w, dropout);
  }
  return ops::attribute_product(features_, nodes.defined() ? nodes : all_nodes(), w, dropout);
}

}  // namespace lase
