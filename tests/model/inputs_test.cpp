#include "lase/model/inputs.h"

#include <cmath>

#include "torch_support.h"

namespace lase {
namespace {

struct Moments {
  Doubles mean;
  Doubles scale;
};

Moments moments(const Matrix& rows) {
  Moments result;
  const auto n = static_cast<double>(rows.size());
  for (size_t j = 0; j < rows[0].size(); ++j) {
    double mean = 0;
    for (const auto& one : rows) mean += one[j] / n;
    double variance = 0;
    for (const auto& one : rows) variance += (one[j] - mean) * (one[j] - mean) / n;
    result.mean.push_back(mean);
    result.scale.push_back(1 / std::sqrt(variance));
  }
  return result;
}

TEST(Inputs, AreStandardizedByTrainingNodesAndTheirLinks) {
  for (const Layout layout : {Layout::kDense, Layout::kDictionary}) {
    const Graph graph =
        toy_graph({.nodes = 40, .links = 150, .layout = layout, .feature_layout = layout});
    std::vector<bool> training;
    for (int64_t u = 0; u < graph.node_count(); ++u) training.push_back(u % 2 == 0);
    Matrix nodes;
    Matrix links;
    const Matrix features = to_rows(graph.nodes.features);
    const Matrix attributes = to_rows(graph.link_attributes);
    for (int64_t u = 0; u < graph.node_count(); u += 2) {
      nodes.push_back(features[static_cast<size_t>(u)]);
      for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
        const int32_t v = graph.neighbor[i];
        const auto link = static_cast<size_t>(graph.link[i]);
        if (v % 2 == 0 && u < v) links.push_back(attributes[link]);
      }
    }
    Graph seen = graph;
    seen.adjacency() = adjacency_within(graph, training);
    const Scaling scaling = fit_scaling(seen, training, NodeScaling::kStandard);
    const Moments node = moments(nodes);
    const Moments link = moments(links);
    expect_close(scaling.node_mean, to_tensor({node.mean})[0], 1e-5, "node mean");
    expect_close(scaling.node_scale, to_tensor({node.scale})[0], 1e-5, "node scale");
    expect_close(scaling.link_mean, to_tensor({link.mean})[0], 1e-5, "link mean");
    expect_close(scaling.link_scale, to_tensor({link.scale})[0], 1e-5, "link scale");
    // Scaled training rows have mean 0 and variance 1.
    std::vector<int64_t> even;
    for (int64_t u = 0; u < graph.node_count(); u += 2) even.push_back(u);
    const at::Tensor x = Inputs(graph, scaling).rows(index_tensor(even)).dense();
    EXPECT_LT(x.mean(0).abs().max().item<float>(), 1e-5F);
    EXPECT_LT((x.square().mean(0) - 1).abs().max().item<float>(), 1e-4F);
  }
}

TEST(Inputs, DoNotScaleSparseAndConstantColumns) {
  Graph graph = toy_graph({.layout = Layout::kSparse, .feature_layout = Layout::kSparse});
  const std::vector<bool> training(static_cast<size_t>(graph.node_count()), true);
  Scaling scaling = fit_scaling(graph, training, NodeScaling::kStandard);
  EXPECT_TRUE(at::equal(scaling.link_mean, at::zeros({3})));
  EXPECT_TRUE(at::equal(scaling.link_scale, at::ones({3})));
  const at::Tensor x = Inputs(graph, scaling).rows(index_tensor(all_nodes(graph))).dense();
  expect_close(x, to_tensor(to_rows(graph.nodes.features)), 1e-6, "sparse");

  Floats values;
  for (int i = 0; i < 12; ++i) values.insert(values.end(), {0.1F, static_cast<float>(i)});
  graph.nodes.features = Attributes::dense(values, 12, 2);
  scaling = fit_scaling(graph, training, NodeScaling::kStandard);
  EXPECT_EQ(scaling.node_mean[0].item<float>(), 0);
  EXPECT_EQ(scaling.node_scale[0].item<float>(), 1);
  EXPECT_EQ(scaling.node_mean[1].item<float>(), 5.5F);
}

// Weights of columns that are always 0 in training are random.
TEST(Inputs, IgnoreLinkAttributesThatAreAlwaysZeroInTraining) {
  Graph graph = toy_graph({.nodes = 40, .links = 150});
  const int64_t links = graph.link_attributes.rows;
  Floats values;
  for (int64_t i = 0; i < links; ++i) {
    values.insert(values.end(), {1, i % 3 == 0 ? 2.0F : 0.0F, i == 0 ? 5.0F : 0.0F});
  }
  const Attributes dense = Attributes::dense(values, links, 3);
  const std::vector<bool> training(40, true);
  for (const Attributes& attributes : {dense, to_sparse(dense)}) {
    graph.link_attributes = attributes;
    const auto scale_with = [&](const auto& keep) {
      Graph seen = graph;
      seen.adjacency() =
          filter_arcs(graph, [&](int64_t, int64_t i) { return keep(graph.link[i]); });
      return fit_scaling(seen, training, NodeScaling::kStandard).link_scale;
    };
    EXPECT_GT(scale_with([](int64_t) { return true; })[2].template item<float>(), 0);
    const at::Tensor scale = scale_with([](int64_t link) { return link != 0; });
    EXPECT_EQ(scale[0].item<float>(), 1);
    EXPECT_GT(scale[1].item<float>(), 0);
    EXPECT_EQ(scale[2].item<float>(), 0);
    // Without links, nothing is known.
    EXPECT_TRUE(at::equal(scale_with([](int64_t) { return false; }), at::ones({3})));
  }
}

TEST(Inputs, ScaleRowsToUnitL1Norm) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.feature_layout = layout});
    Scaling scaling = no_scaling(graph);
    scaling.nodes = NodeScaling::kRow;
    const Matrix rows =
        to_rows(Inputs(graph, scaling).rows(index_tensor(all_nodes(graph))).dense());
    const Matrix raw = to_rows(graph.nodes.features);
    for (size_t u = 0; u < rows.size(); ++u) {
      double sum = 0;
      for (const double value : raw[u]) sum += std::abs(value);
      for (size_t j = 0; j < raw[u].size(); ++j) {
        EXPECT_NEAR(rows[u][j], sum == 0 ? 0 : raw[u][j] / sum, 1e-6);
      }
    }
  }
}

TEST(Inputs, ScaleRowsToUnitL2NormAndLearnedFeaturesToLength2) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.nodes = 20, .links = 40, .feature_layout = layout});
    std::vector<bool> training(20, true);
    training[3] = false;
    const Scaling scaling = fit_scaling(graph, training, NodeScaling::kL2, {.learned = 2});
    const Matrix raw = to_rows(graph.nodes.features);
    double squares = 0;
    for (size_t u = 0; u < raw.size(); ++u) {
      if (u != 3) squares += raw[u][2] * raw[u][2] + raw[u][3] * raw[u][3];
    }
    const double learned = 2 / std::sqrt(squares / 19);
    const Matrix rows =
        to_rows(Inputs(graph, scaling).rows(index_tensor(all_nodes(graph))).dense());
    const Matrix on_demand = to_rows(
        Inputs(graph, scaling, ScaleWhen::kOnDemand).rows(index_tensor(all_nodes(graph))).dense());
    for (size_t u = 0; u < rows.size(); ++u) {
      const double norm = std::sqrt(raw[u][0] * raw[u][0] + raw[u][1] * raw[u][1]);
      for (size_t j = 0; j < 4; ++j) {
        const double expected = j >= 2 ? raw[u][j] * learned : norm == 0 ? 0 : raw[u][j] / norm;
        EXPECT_NEAR(rows[u][j], expected, 1e-5);
        EXPECT_NEAR(on_demand[u][j], expected, 1e-5);
      }
    }
  }
}

TEST(Inputs, ScaleSparseFeaturesByTheirL2NormByDefault) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.feature_layout = layout});
    const std::vector<bool> training(static_cast<size_t>(graph.node_count()), true);
    EXPECT_EQ(fit_scaling(graph, training, NodeScaling::kAuto).nodes,
              layout == Layout::kSparse ? NodeScaling::kL2 : NodeScaling::kStandard);
  }
}

TEST(Inputs, ProjectLikeADenseMatrixProduct) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.feature_layout = layout});
    const std::vector<bool> training(static_cast<size_t>(graph.node_count()), true);
    for (const auto how :
         {NodeScaling::kStandard, NodeScaling::kRow, NodeScaling::kL2, NodeScaling::kNone}) {
      const Inputs inputs(graph, fit_scaling(graph, training, how));
      Random random(1);
      const at::Tensor w = random_tensor(random, {5, 4}).to(at::kFloat);
      const at::Tensor nodes = index_tensor({3, 0, 0, 7});
      expect_close(inputs.projected(nodes, w), inputs.rows(nodes).dense().matmul(w.t()), 1e-5,
                   std::string(layout_name(layout)));
    }
  }
}

TEST(Inputs, DefaultToAConstantAndTheDegree) {
  const Graph graph = toy_graph({});
  const Matrix rows = to_rows(degree_features(graph));
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    EXPECT_EQ(rows[static_cast<size_t>(u)][0], 1);
    EXPECT_NEAR(rows[static_cast<size_t>(u)][1],
                std::log(1.0 + static_cast<double>(graph.degree(u))), 1e-6);
  }
}

TEST(Inputs, RejectDenseFeaturesThatDoNotFitIntoMemory) {
  Graph graph = toy_graph({.nodes = 20'000, .links = 10, .feature_layout = Layout::kSparse});
  graph.nodes.features.columns = 100'000;
  const Inputs inputs(graph, no_scaling(graph));
  expect_error(
      [&] {
        const MemoryLimit limit(100 << 20);
        inputs.rows(at::Tensor());
      },
      {"dense node features need", "reduce them with PCA"});
}

}  // namespace
}  // namespace lase
