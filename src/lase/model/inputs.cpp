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
#include "lase/ops/pinned.h"

namespace lase {

using at::Tensor;

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
  const auto divided = [&x](int64_t columns, const Tensor& norm) {  // the first columns
    const Tensor ones = at::ones({x.size(0), x.size(1) - columns}, x.options());
    return x / at::cat({norm.clamp_min(kSmallest).expand({-1, columns}), ones}, 1);
  };
  const AddedColumns& added = scaling.added;
  if (scaling.nodes == NodeScaling::kRow) {
    const int64_t columns = x.size(1) - added.labels;
    return divided(columns, x.narrow(1, 0, columns).abs().sum(1, true));
  }
  if (scaling.nodes == NodeScaling::kL2) {
    const int64_t columns = x.size(1) - added.all();
    return divided(columns, x.narrow(1, 0, columns).norm(2, 1, true)) * scaling.node_scale;
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
  const int64_t own = f.columns - scaling.added.all();
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

namespace {

// The rows that have values in the last columns.
std::vector<int64_t> labeled_rows(const Attributes& features, int64_t labels) {
  std::vector<int64_t> rows;
  for (int64_t u = 0; u < features.rows && labels > 0; ++u) {
    bool any = false;
    features.for_each(u, [&](int64_t j, float value) {
      any = any || (j >= features.columns - labels && value != 0);
    });
    if (any) rows.push_back(u);
  }
  return rows;
}

// The matrix, then the given rows without the last columns.
Attributes with_rows_without_labels(const Attributes& features, int64_t labels,
                                    const std::vector<int64_t>& rows) {
  const auto added = std::ssize(rows);
  const double growth = static_cast<double>(added) / static_cast<double>(features.rows);
  require_memory((1 + growth) * static_cast<double>(features.bytes()),
                 "node features with known labels", "set ", OptionName{"label_inputs"}, " off");
  Attributes matrix = features;
  matrix.rows += added;
  std::vector<float> values(features.values.begin(), features.values.end());
  const auto visit_own = [&](int64_t row, const auto& visit) {
    features.for_each(row, [&](int64_t j, float value) {
      const bool own = j < features.columns - labels;
      if (own || features.layout != Layout::kSparse) visit(j, own ? value : 0);
    });
  };
  if (features.layout == Layout::kSparse) {
    std::vector<int64_t> row_ptr(features.row_ptr.begin(), features.row_ptr.end());
    std::vector<int32_t> column(features.column.begin(), features.column.end());
    for (const int64_t row : rows) {
      visit_own(row, [&](int64_t j, float value) {
        values.push_back(value);
        column.push_back(static_cast<int32_t>(j));
      });
      row_ptr.push_back(std::ssize(values));
    }
    matrix.row_ptr = std::move(row_ptr);
    matrix.column = std::move(column);
  } else {
    std::vector<int32_t> code(features.code.begin(), features.code.end());
    for (const int64_t row : rows) {
      visit_own(row, [&](int64_t, float value) { values.push_back(value); });
      code.push_back(static_cast<int32_t>(std::ssize(values) / features.columns - 1));
    }
    if (features.layout == Layout::kDictionary) matrix.code = std::move(code);
  }
  matrix.values = std::move(values);
  return matrix;
}

}  // namespace

Inputs::Inputs(const Graph& graph, const Scaling& scaling, ScaleWhen when)
    : scaling_(scaling),
      nodes_(graph.nodes.features.rows),
      labeled_(labeled_rows(graph.nodes.features, scaling.added.labels)) {
  Attributes features = graph.nodes.features;
  if (!labeled_.empty()) {
    features = with_rows_without_labels(features, scaling.added.labels, labeled_);
    const Tensor labeled = at::tensor(at::ArrayRef<int64_t>(labeled_));
    without_label_ = at::arange(nodes_, at::kLong);
    without_label_.index_copy_(0, labeled, at::arange(nodes_, features.rows, at::kLong));
  }
  features_ = ops::AttributeTensors(features);
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

namespace {

// The matrix on a device. On a GPU, rows are padded.
Tensor aligned_on(const at::Device& device, const Tensor& matrix) {
  const int64_t width = ops::padded_width(matrix.size(1));
  if (matrix.device() == device) return matrix;
  if (device.is_cpu() || matrix.size(1) == width) return matrix.to(device);
  const Tensor padded = at::zeros({matrix.size(0), width}, matrix.options().device(device));
  Tensor rows = padded.narrow(1, 0, matrix.size(1));
  rows.copy_(matrix);
  return rows;
}

}  // namespace

Inputs Inputs::to(const at::Device& device, const Adjacency& graph, int64_t bytes) const {
  if (device == device_) return *this;
  Inputs moved = *this;
  moved.device_ = device;
  moved.residence_ = choose_residence(*this, graph, bytes);
  const Residence& residence = moved.residence_;
  if (matrix_.defined()) {
    moved.features_ = {};  // only its shape is read
    moved.features_.layout = features_.layout;
    moved.features_.rows = features_.rows;
    moved.features_.columns = features_.columns;
    if (residence.features) {
      moved.matrix_ = aligned_on(device, matrix_);
    } else {
      moved.matrix_ = ops::pinned(matrix_, device, ops::padded_width(matrix_.size(1)));
      moved.cached_ = ops::CachedRows::of(
          moved.matrix_, at::tensor(at::ArrayRef<int64_t>(residence.cached)).to(device));
    }
  } else {
    moved.features_ = residence.features ? features_.to(device) : features_.pinned(device);
  }
  moved.links_.f = residence.links ? links_.f.to(device) : links_.f.pinned(device);
  moved.targets_.f = targets_.f.to(device);
  for (Tensor* x :
       {&moved.scaling_.node_mean, &moved.scaling_.node_scale, &moved.scaling_.link_mean,
        &moved.scaling_.link_scale, &moved.links_.mean, &moved.links_.scale, &moved.targets_.mean,
        &moved.targets_.scale, &moved.without_label_, &moved.hidden_}) {
    if (x->defined()) *x = x->to(device);
  }
  return moved;
}

Inputs Inputs::hiding(const Tensor& nodes) const {
  Inputs inputs = *this;
  inputs.hidden_ = labeled_.empty() ? Tensor() : nodes;
  return inputs;
}

Tensor Inputs::all_nodes() const {
  return at::arange(nodes_, at::TensorOptions(device_).dtype(at::kLong));
}

Tensor Inputs::rows_of(const Tensor& nodes) const {
  if (!hidden_.defined()) return nodes;
  if (!nodes.defined()) return at::where(hidden_, without_label_, all_nodes());
  return at::where(hidden_.index_select(0, nodes), without_label_.index_select(0, nodes), nodes);
}

int64_t Inputs::feature_bytes() const {
  if (!matrix_.defined()) return features_.bytes();
  return matrix_.size(0) * ops::padded_width(matrix_.size(1)) *
         static_cast<int64_t>(matrix_.element_size());
}

Inputs::BlockLinks Inputs::links_of(const Block& block) const {
  BlockLinks found{block, links_};
  if (residence_.links || links_.f.layout != Layout::kDense || links_.f.columns == 0) return found;
  found.links.f.values = ops::CachedRows{links_.f.values, {}, {}}.at(block.link).contiguous();
  found.links.f.rows = block.arcs();
  found.block.link = at::arange(block.arcs(), at::TensorOptions(device_).dtype(at::kInt));
  return found;
}

ops::Rows Inputs::rows(const Tensor& nodes) const {
  const Tensor rows = rows_of(nodes);
  if (cached_.matrix.defined() && rows.defined()) return {cached_.at(rows), {}};
  if (matrix_.defined()) return {rows.defined() ? matrix_ : matrix_.narrow(0, 0, nodes_), rows};
  require_features(rows.defined() ? rows.size(0) : nodes_, features_.columns);
  const Tensor x = ops::attribute_rows(features_, rows.defined() ? rows : all_nodes());
  return {scaled(x, features_.layout, scaling_), {}};
}

Tensor Inputs::projected(const Tensor& nodes, const Tensor& w, const ops::Dropout& dropout) const {
  if (scaling_.nodes == NodeScaling::kRow || features_.layout != Layout::kSparse) {
    return ops::linear(rows(nodes), w, dropout);
  }
  const Tensor rows = rows_of(nodes);
  return ops::attribute_product(features_, rows.defined() ? rows : all_nodes(), w, dropout);
}

}  // namespace lase
