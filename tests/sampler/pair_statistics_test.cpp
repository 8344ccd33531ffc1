#include "lase/sampler/pair_statistics.h"

#include <cmath>
#include <set>

#include "lase/base/parallel.h"
#include "lase/graph/build.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using Ids = std::vector<int32_t>;

// From sets of neighbors.
Tensor reference(const Adjacency& graph, const Ids& source, const Ids& target, bool symmetric) {
  const auto neighbors = [&](int64_t u) {
    return std::set<int64_t>(graph.neighbor.begin() + graph.row_ptr[u],
                             graph.neighbor.begin() + graph.row_ptr[u + 1]);
  };
  const auto degree = [&](int64_t u) { return static_cast<double>(graph.degree(u)); };
  Matrix rows;
  for (size_t i = 0; i < source.size(); ++i) {
    const double u = std::log(1 + degree(source[i]));
    const double v = std::log(1 + degree(target[i]));
    double count = 0;
    double adamic_adar = 0;
    double resource = 0;
    const auto of_target = neighbors(target[i]);
    for (const int64_t w : neighbors(source[i])) {
      if (!of_target.contains(w)) continue;
      count += 1;
      adamic_adar += 1 / std::log(2 + degree(w));
      resource += 1 / (1 + degree(w));
    }
    rows.push_back({symmetric ? u + v : u, symmetric ? std::abs(u - v) : v, std::log(1 + count),
                    adamic_adar, resource});
  }
  return to_tensor(rows);
}

// Random links, and a node with a link to every other, so that its row is searched.
Graph graph_with_hub(bool directed, bool keep_parallel) {
  const Graph links = random_links({.nodes = 80,
                                    .links = 160,
                                    .directed = directed,
                                    .repeated = true,
                                    .keep_parallel = keep_parallel});
  RawGraph raw;
  raw.rules.directed = directed;
  if (keep_parallel) raw.rules.parallel = Parallel::kKeep;
  raw.nodes.names = links.nodes.names;
  raw.nodes.features = links.nodes.features;
  raw.source.append(Ids(links.targets.source.begin(), links.targets.source.end()));
  raw.target.append(Ids(links.targets.target.begin(), links.targets.target.end()));
  for (int32_t v = 1; v < 80; ++v) {
    raw.source.push_back(0);
    raw.target.push_back(v);
  }
  raw.targets.emplace();
  return build_graph(std::move(raw)).graph;
}

TEST(PairStatistics, AreThoseOfTheVisibleNeighborhoods) {
  for (const bool directed : {false, true}) {
    for (const bool keep_parallel : {false, true}) {
      const Graph graph = graph_with_hub(directed, keep_parallel);
      // Links to hide, among them some of the hub.
      Ids hidden_source;
      Ids hidden_target;
      for (int64_t i = 0; i < graph.targets.size(); i += 4) {
        hidden_source.push_back(graph.targets.source[i]);
        hidden_target.push_back(graph.targets.target[i]);
      }
      const HiddenArcs hidden(graph, hidden_source, hidden_target);
      // All pairs, among them those of the hub, of a node with itself, and hidden ones.
      Ids source;
      Ids target;
      for (int32_t u = 0; u < 80; ++u) {
        for (int32_t v = 0; v < 80; ++v) {
          source.push_back(u);
          target.push_back(v);
        }
      }
      int64_t searched = 0;
      for (int64_t u = 1; u < 80; ++u) {
        searched += graph.degree(u) > 0 && graph.degree(0) > 16 * graph.degree(u) ? 1 : 0;
      }
      EXPECT_GT(searched, 10);
      for (const bool symmetric : {false, true}) {
        expect_close(pair_statistics({graph}, source, target, symmetric),
                     reference(graph, source, target, symmetric), 1e-6, "all arcs");
        expect_close(pair_statistics({graph, &hidden}, source, target, symmetric),
                     reference(visible_arcs(graph, hidden), source, target, symmetric), 1e-6,
                     "visible arcs");
      }
    }
  }
}

TEST(PairStatistics, AreSymmetricIfRequested) {
  const Graph graph = graph_with_hub(false, false);
  const Ids source = {0, 3, 5, 7};
  const Ids target = {9, 0, 6, 2};
  expect_same_bits(pair_statistics({graph}, source, target, true),
                   pair_statistics({graph}, target, source, true), "exchanged");
  EXPECT_FALSE(at::equal(pair_statistics({graph}, source, target, false),
                         pair_statistics({graph}, target, source, false)));
}

TEST(PairStatistics, DoNotDependOnTheNumberOfThreads) {
  const Graph graph = graph_with_hub(false, false);
  const Ids source(1000, 3);
  Ids target;
  for (int32_t i = 0; i < 1000; ++i) target.push_back(i % 80);
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return pair_statistics({graph}, source, target, false);
  };
  expect_same_bits(with(4), with(1), "4 threads");
}

}  // namespace
}  // namespace lase
