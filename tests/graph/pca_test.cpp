// Principal components against the eigenvectors of the full covariance matrix in double precision.

#include "lase/graph/pca.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/parallel.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

// Columns of very different scales, so that components are well separated.
Attributes spread_attributes(Layout layout, int64_t rows, int64_t columns, uint64_t seed) {
  Random random(seed);
  Attributes matrix = random_attributes(random, layout, rows, columns);
  Floats values(matrix.values.begin(), matrix.values.end());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t j = layout == Layout::kSparse ? matrix.column[at] : at % columns;
    values[i] *= static_cast<float>(std::pow(0.6, static_cast<double>(j)));
  }
  matrix.values = std::move(values);
  return matrix;
}

struct Exact {
  Tensor mean;        // [k]
  Tensor components;  // [k, d]
};

Exact exact_pca(const Attributes& matrix, const std::vector<int64_t>& rows, int64_t d) {
  Matrix chosen;
  const Matrix all = to_rows(matrix);
  for (const int64_t row : rows) chosen.push_back(all[static_cast<size_t>(row)]);
  const Tensor x = to_tensor(chosen);
  const Tensor mean = x.mean(0);
  const Tensor centered = x - mean;
  const Tensor covariance = centered.t().mm(centered) / static_cast<double>(rows.size());
  Tensor w = std::get<1>(at::linalg_eigh(covariance, "L")).flip({1}).narrow(1, 0, d);
  for (int64_t c = 0; c < d; ++c) {
    const Tensor column = w.select(1, c);
    if (column[column.abs().argmax()].item<double>() < 0) column.neg_();
  }
  return {mean, w};
}

std::vector<int64_t> some_rows(int64_t rows) {
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < rows; ++i) {
    if (i % 4 != 0) chosen.push_back(i);
  }
  return chosen;
}

Tensor to_tensor(const Array<float>& values, int64_t columns) {
  return at::from_blob(const_cast<float*>(values.data()), {values.size() / columns, columns},
                       at::kFloat)
      .clone();
}

TEST(Pca, FindsTheEigenvectorsOfTheCovarianceOfTheSelectedRows) {
  for (const Layout layout : kLayouts) {
    const Attributes matrix = spread_attributes(layout, 300, 12, 1);
    const auto rows = some_rows(300);
    const Reduction found = fit_pca(matrix, rows, {.components = 4});
    const Exact expected = exact_pca(matrix, rows, 4);
    const std::string what(layout_name(layout));
    expect_close(to_tensor(found.mean, 12)[0], expected.mean, 1e-5, "mean, " + what);
    expect_close(to_tensor(found.components, 4), expected.components, 1e-3, what);
    EXPECT_EQ(found.columns(), 12);
    EXPECT_EQ(found.kept(), 4);
  }
}

TEST(Pca, IsOrthonormalIfAllComponentsAreKept) {
  const Attributes matrix = spread_attributes(Layout::kDense, 50, 5, 2);
  const auto rows = some_rows(50);
  const Reduction found = fit_pca(matrix, rows, {.components = 5});
  const Tensor w = to_tensor(found.components, 5);
  expect_close(w.t().mm(w), at::eye(5), 1e-5, "orthonormal");
}

TEST(Pca, ReducesEveryRowInEveryLayout) {
  for (const Layout layout : kLayouts) {
    const Attributes matrix = spread_attributes(layout, 100, 8, 3);
    const Reduction reduction = fit_pca(matrix, some_rows(100), {.components = 3});
    const Attributes reduced = reduce(matrix, reduction);
    EXPECT_EQ(reduced.layout, layout == Layout::kDictionary ? Layout::kDictionary : Layout::kDense);
    EXPECT_EQ(reduced.rows, 100);
    EXPECT_EQ(reduced.columns, 3);
    const Tensor x = lase::to_tensor(to_rows(matrix));
    const Tensor mean = to_tensor(reduction.mean, 8).to(at::kDouble);
    const Tensor w = to_tensor(reduction.components, 3).to(at::kDouble);
    expect_close(lase::to_tensor(to_rows(reduced)), (x - mean).mm(w), 1e-5,
                 std::string(layout_name(layout)));
  }
}

TEST(Pca, IsTheSameForAnyNumberOfThreads) {
  const Attributes matrix = spread_attributes(Layout::kSparse, 500, 30, 4);
  const auto rows = some_rows(500);
  const auto fit = [&](int threads) {
    const ThreadLimit limit(threads);
    return fit_pca(matrix, rows, {.components = 4});
  };
  EXPECT_TRUE(std::ranges::equal(fit(1).components, fit(4).components));
}

TEST(Pca, RejectsInvalidArguments) {
  const Attributes matrix = spread_attributes(Layout::kDense, 10, 3, 5);
  const auto rows = some_rows(10);
  expect_error([&] { fit_pca(matrix, rows, {.components = 4}); }, {"4 components", "3 columns"});
  expect_error([&] { fit_pca(matrix, rows, {.components = 0}); }, {"0 components"});
  expect_error([&] { fit_pca(matrix, {}, {.components = 2}); }, {"no training rows"});
  const Reduction reduction = fit_pca(matrix, rows, {.components = 2});
  const Attributes other = spread_attributes(Layout::kDense, 10, 4, 5);
  expect_error([&] { reduce(other, reduction); }, {"3 columns", "4"});
}

TEST(Pca, OfAGraphIsFittedOnTrainingNodesAndLinksBetweenThem) {
  const Graph graph =
      toy_graph({.nodes = 60, .links = 300, .features = 6, .attributes = 5, .split = true});
  const auto training = [&](int64_t u) {
    return graph.nodes.split[u] == static_cast<uint8_t>(Split::kTrain);
  };
  std::vector<int64_t> nodes;
  std::vector<int64_t> links;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (training(u)) nodes.push_back(u);
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int64_t v = graph.neighbor[i];
      if (u < v && training(u) && training(v)) links.push_back(graph.link[i]);
    }
  }
  Graph reduced = graph;
  reduce_nodes(reduced, {.components = 2});
  reduce_links(reduced, {.components = 3});
  EXPECT_EQ(reduced.nodes.features.columns, 2);
  EXPECT_EQ(reduced.link_attributes.columns, 3);
  EXPECT_EQ(texts(reduced.attribute_names), (Strings{"component 0", "component 1", "component 2"}));
  EXPECT_EQ(texts(reduced.node_reduction.names), texts(graph.nodes.feature_names));
  const Exact node = exact_pca(graph.nodes.features, nodes, 2);
  const Exact link = exact_pca(graph.link_attributes, links, 3);
  expect_close(to_tensor(reduced.node_reduction.mean, 6)[0], node.mean, 1e-5, "nodes");
  expect_close(to_tensor(reduced.link_reduction.mean, 5)[0], link.mean, 1e-5, "links");
  expect_close(to_tensor(reduced.node_reduction.components, 2), node.components, 1e-3, "nodes");
  expect_close(to_tensor(reduced.link_reduction.components, 3), link.components, 1e-3, "links");
}

TEST(Pca, AppliesTheReductionOfAnotherGraph) {
  Graph first = toy_graph({.features = 6, .seed = 1});
  reduce_nodes(first, {.components = 2});
  Graph second = toy_graph({.features = 6, .seed = 2});
  const Attributes expected = reduce(second.nodes.features, first.node_reduction);
  reduce_nodes(second, {}, first.node_reduction);
  EXPECT_EQ(to_rows(second.nodes.features), to_rows(expected));
  EXPECT_TRUE(std::ranges::equal(second.node_reduction.mean, first.node_reduction.mean));
}

}  // namespace
}  // namespace lase
