#include "torch_support.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/sampler/sampler.h"

namespace lase {

using at::Tensor;

Tensor random_tensor(Random& random, const std::vector<int64_t>& shape) {
  Tensor values = at::empty(shape, at::kDouble);
  for (int64_t i = 0; i < values.numel(); ++i) values.data_ptr<double>()[i] = random.normal();
  return values;
}

at::Tensor random_floats(Random& random, const std::vector<int64_t>& shape) {
  return random_tensor(random, shape).to(at::kFloat);
}

Attributes random_attributes(Random& random, Layout layout, int64_t rows, int64_t columns) {
  const int64_t stored = layout == Layout::kDictionary ? (rows + 1) / 2 : rows;
  std::vector<float> values;
  for (int64_t i = 0; i < stored * columns; ++i) {
    const bool zero = layout == Layout::kSparse && random.chance(0.5);
    values.push_back(zero ? 0.0F : static_cast<float>(random.below(33)) / 8 - 2);
  }
  Attributes dense = Attributes::dense(std::move(values), stored, columns);
  if (layout == Layout::kDense) return dense;
  if (layout == Layout::kSparse) return to_sparse(dense);
  Attributes dictionary = dense;
  dictionary.layout = Layout::kDictionary;
  dictionary.rows = rows;
  std::vector<int32_t> code;
  for (int64_t i = 0; i < rows; ++i) code.push_back(static_cast<int32_t>(i / 2));
  dictionary.code = std::move(code);
  return dictionary;
}

Graph toy_graph(const ToyOptions& options) {
  Random random(options.seed, 0x544F59);
  RawGraph raw;
  raw.rules.directed = options.directed;
  raw.attributes.columns = options.attributes;
  raw.nodes.names = numbered_names("n", options.nodes);
  const auto linked = static_cast<uint64_t>(options.nodes - 1);
  for (int64_t i = 0; i < options.links && linked > 0; ++i) {
    raw.source.push_back(static_cast<int32_t>(random.below(linked)));
    raw.target.push_back(static_cast<int32_t>(random.below(linked)));
    for (int64_t j = 0; j < options.attributes; ++j) raw.attributes.values.push_back(0);
  }
  raw.nodes.features =
      random_attributes(random, options.feature_layout, options.nodes, options.features);
  raw.nodes.labels.task = Task::kSingleLabel;
  raw.nodes.labels.names = numbered_names("label ", options.labels);
  std::vector<int32_t> label;
  std::vector<uint8_t> split;
  for (int64_t u = 0; u < options.nodes; ++u) {
    label.push_back(static_cast<int32_t>(u % options.labels));
    const uint64_t number = random.below(4);
    split.push_back(static_cast<uint8_t>(number < 2    ? Split::kTrain
                                         : number == 2 ? Split::kVal
                                                       : Split::kTest));
  }
  raw.nodes.labels.label = std::move(label);
  if (options.split) raw.nodes.split = std::move(split);
  Graph graph = build_graph(std::move(raw)).graph;
  graph.link_attributes =
      random_attributes(random, options.layout, graph.links, options.attributes);
  return graph;
}

Labels single_labels(std::vector<int32_t> label, int64_t classes) {
  Labels labels;
  labels.task = Task::kSingleLabel;
  labels.label = std::move(label);
  labels.names = numbered_names("label ", classes);
  return labels;
}

Labels target_labels(Task task, Floats target, int64_t columns) {
  Labels labels;
  labels.task = task;
  labels.target = std::move(target);
  labels.names = numbered_names("target ", columns);
  return labels;
}

Matrix to_rows(const Attributes& matrix) {
  Matrix rows;
  for (int64_t i = 0; i < matrix.rows; ++i) {
    const Floats values = row(matrix, i);
    rows.emplace_back(values.begin(), values.end());
  }
  return rows;
}

Doubles to_doubles(const Tensor& tensor) {
  const Tensor values = tensor.detach().to(at::kDouble).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

Matrix to_rows(const Tensor& tensor) {
  Matrix rows;
  for (int64_t i = 0; i < tensor.size(0); ++i) rows.push_back(to_doubles(tensor.select(0, i)));
  return rows;
}

Tensor to_tensor(const Matrix& rows) {
  const auto n = static_cast<int64_t>(rows.size());
  const auto m = n == 0 ? 0 : static_cast<int64_t>(rows[0].size());
  Tensor values = at::empty({n, m}, at::kDouble);
  auto* out = values.data_ptr<double>();
  for (const auto& one : rows) out = std::copy(one.begin(), one.end(), out);
  return values;
}

Tensor index_tensor(const std::vector<int64_t>& values) {
  return at::tensor(at::ArrayRef<int64_t>(values), at::kLong);
}

void to_double(ops::AttributeTensors& f) { f.values = f.values.to(at::kDouble); }

void to_double(Parameters& parameters) {
  for (auto& [name, value] : parameters.all()) {
    value.set_data(value.detach().to(at::kDouble).clone());
  }
}

void to_double(Batch& batch) {
  for (auto& block : batch.blocks) block.degree = block.degree.to(at::kDouble);
}

Scaling no_scaling(const Graph& graph) {
  const int64_t d = graph.nodes.features.columns;
  const int64_t k = graph.link_attributes.columns;
  return {.nodes = NodeScaling::kStandard,
          .node_mean = at::zeros({d}),
          .node_scale = at::ones({d}),
          .link_mean = at::zeros({k}),
          .link_scale = at::ones({k})};
}

Inputs double_inputs(const Graph& graph, const Scaling& scaling) {
  Scaling wide = scaling;
  for (Tensor* part : {&wide.node_mean, &wide.node_scale, &wide.link_mean, &wide.link_scale}) {
    *part = part->to(at::kDouble);
  }
  Inputs inputs(graph, wide);
  // The layers share this tensor, so replacing its data is enough.
  const Tensor& values = inputs.links().f.values;
  values.set_data(values.to(at::kDouble));
  return inputs;
}

std::vector<int64_t> all_nodes(const Graph& graph) {
  std::vector<int64_t> nodes(static_cast<size_t>(graph.node_count()));
  std::iota(nodes.begin(), nodes.end(), int64_t{0});
  return nodes;
}

Model toy_model(const Graph& graph, const std::string& name) {
  ModelOptions options;
  options.model = name;
  options.widths = {4, 4};
  return {options,
          {.node_features = graph.nodes.features.columns,
           .link_attributes = graph.link_attributes.columns,
           .outputs = 3},
          1};
}

std::string SavedModelTest::saved_with(const TrainedModel& trained, const std::string& text,
                                       std::string by) const {
  save_model(trained, path("m.model"));
  std::string all = read_file(path("m.model"));
  by.resize(text.size(), ' ');
  for (const auto& [from, to] : {std::pair(text, by), std::pair<std::string, std::string>(
                                                          "\"checksums\"", "\"checksumz\"")}) {
    const size_t at = all.find(from);
    EXPECT_NE(at, all.npos) << from;
    all.replace(at, from.size(), to);
  }
  return write("changed.model", all);
}

Batch whole_batch(const Graph& graph, const std::vector<int64_t>& seeds, int64_t layers) {
  const std::vector<int64_t> fanouts(static_cast<size_t>(layers), kWholeNeighborhood);
  return sample_batch(graph, seeds, {.fanouts = fanouts}, {});
}

void expect_close(const Tensor& found, const Tensor& expected, double tolerance,
                  const std::string& what, std::source_location where) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), what);
  ASSERT_TRUE(found.defined());
  ASSERT_EQ(found.sizes(), expected.sizes());
  const Doubles a = to_doubles(found);
  const Doubles b = to_doubles(expected);
  for (size_t i = 0; i < a.size(); ++i) {
    // Written so that NaN fails.
    ASSERT_TRUE(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i])))
        << "entry " << i << " is " << a[i] << ", expected " << b[i];
  }
}

void expect_same_bits(const Tensor& found, const Tensor& expected, const std::string& what,
                      std::source_location where) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), what);
  ASSERT_EQ(found.sizes(), expected.sizes());
  ASSERT_EQ(found.scalar_type(), expected.scalar_type());
  ASSERT_TRUE(at::equal(found, expected));
}

void expect_same_weights(const Model& found, const Model& expected, std::source_location where) {
  const auto& a = found.parameters().all();
  const auto& b = expected.parameters().all();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    expect_same_bits(a[i].second, b[i].second, b[i].first, where);
  }
}

void expect_gradient(const std::function<Tensor()>& f, const Tensor& x, const std::string& what,
                     double tolerance, std::source_location where) {
  ASSERT_EQ(x.scalar_type(), at::kDouble);
  ASSERT_TRUE(x.requires_grad()) << what;
  x.mutable_grad() = Tensor();
  f().backward();
  // An entry that is never read has no gradient.
  const Tensor gradient = x.grad().defined() ? x.grad().clone() : at::zeros_like(x);
  Tensor numeric = at::zeros_like(x).detach();
  {
    const c10::NoGradGuard no_grad;
    constexpr double kStep = 1e-5;
    Tensor flat = x.detach().view({-1});  // shares the storage of x
    for (int64_t i = 0; i < flat.numel(); ++i) {
      auto* entry = flat.data_ptr<double>() + i;
      const double value = *entry;
      *entry = value + kStep;
      const auto above = f().item<double>();
      *entry = value - kStep;
      const auto below = f().item<double>();
      *entry = value;
      numeric.data_ptr<double>()[i] = (above - below) / (2 * kStep);
    }
  }
  expect_close(gradient, numeric, tolerance, what, where);
}

}  // namespace lase
