#include "theory/graph_kernels.h"

#include <cmath>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/graph/arcs.h"

#include "support.h"

namespace lase {
namespace {

using Vector = std::vector<double>;
using Kind = KernelKind;

constexpr Kind kKinds[] = {Kind::kNeighbor, Kind::kNeighborhood, Kind::kRandomWalk,
                           Kind::kWeisfeilerLehman};

struct GraphShape {
  Layout layout = Layout::kDense;
  bool directed = false;
  bool separate_directions = false;
  int64_t nodes = 6;
  int64_t links = 9;
  int64_t features = 3;
  int64_t attributes = 2;
  uint64_t seed = 1;
};

Floats normals(int64_t count, uint64_t seed) {
  Random random(seed, count);
  Floats values(static_cast<size_t>(count));
  for (auto& value : values) value = static_cast<float>(random.normal());
  return values;
}

// Random rows; sparse rows have a quarter zeros, dictionary-encoded rows have three distinct
// values.
Attributes random_attributes(Layout layout, int64_t rows, int64_t columns, uint64_t seed) {
  Floats values = normals(rows * columns, seed);
  if (layout == Layout::kDense) return Attributes::dense(values, rows, columns);
  Random random(seed, rows, columns);
  if (layout == Layout::kSparse) {
    for (auto& value : values) value = random.chance(0.75) ? value : 0;
    return to_sparse(Attributes::dense(values, rows, columns));
  }
  Attributes dictionary = Attributes::dense(normals(3 * columns, seed), rows, columns);
  dictionary.layout = Layout::kDictionary;
  std::vector<int32_t> code(static_cast<size_t>(rows));
  for (auto& c : code) c = static_cast<int32_t>(random.below(3));
  dictionary.code = code;
  return dictionary;
}

// Contains parallel links and self-loops.
Graph make_graph(const GraphShape& shape) {
  Random random(shape.seed, shape.nodes, shape.links);
  std::vector<int32_t> source;
  std::vector<int32_t> target;
  for (int64_t i = 0; i < shape.links; ++i) {
    source.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(shape.nodes))));
    target.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(shape.nodes))));
  }
  Graph graph;
  graph.adjacency() = build_adjacency({.source = source,
                                       .target = target,
                                       .nodes = shape.nodes,
                                       .directed = shape.directed,
                                       .keep_self_loops = true},
                                      shape.separate_directions);
  graph.links = shape.links;
  graph.directed = shape.directed;
  graph.separate_directions = shape.separate_directions;
  graph.nodes.names = numbered_names("", shape.nodes);
  if (shape.features > 0) {
    graph.nodes.features =
        random_attributes(shape.layout, shape.nodes, shape.features, shape.seed + 1000);
  }
  if (shape.attributes > 0) {
    graph.link_attributes =
        random_attributes(shape.layout, shape.links * (shape.separate_directions ? 2 : 1),
                          shape.attributes, shape.seed + 2000);
  }
  return graph;
}

// The definitions, by enumeration.

Vector vector_of(const Attributes& f, int64_t i) {
  if (f.columns == 0) return {1};
  const Floats values = row(f, i);
  return {values.begin(), values.end()};
}

double dot(const Vector& a, const Vector& b) {
  EXPECT_EQ(a.size(), b.size());
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct Arc {
  int64_t u;
  int64_t v;
  Vector f;
};

std::vector<Arc> arcs_of(const Graph& graph) {
  std::vector<Arc> arcs;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      arcs.push_back({u, graph.neighbor[i], vector_of(graph.link_attributes, graph.link[i])});
    }
  }
  return arcs;
}

std::vector<Vector> features_of(const Graph& graph) {
  std::vector<Vector> f;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    f.push_back(vector_of(graph.nodes.features, u));
  }
  return f;
}

// A walk, as the labels of its nodes and links.
struct Walk {
  int64_t last;
  std::vector<Vector> nodes;
  std::vector<Vector> links;
};

std::vector<Walk> walks_of(const Graph& graph, const std::vector<Vector>& labels, int64_t length) {
  std::vector<Walk> walks;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    walks.push_back({u, {labels[static_cast<size_t>(u)]}, {}});
  }
  const auto arcs = arcs_of(graph);
  for (int64_t i = 1; i < length; ++i) {
    std::vector<Walk> longer;
    for (const auto& walk : walks) {
      for (const auto& arc : arcs) {
        if (arc.u != walk.last) continue;
        longer.push_back(walk);
        longer.back().last = arc.v;
        longer.back().nodes.push_back(labels[static_cast<size_t>(arc.v)]);
        longer.back().links.push_back(arc.f);
      }
    }
    walks = longer;
  }
  return walks;
}

double kernel_of_walks(const std::vector<Walk>& a, const std::vector<Walk>& b, double decay) {
  double sum = 0;
  for (const auto& x : a) {
    for (const auto& y : b) {
      double product = 1;
      for (size_t i = 0; i < x.nodes.size(); ++i) product *= dot(x.nodes[i], y.nodes[i]);
      for (size_t i = 0; i < x.links.size(); ++i) product *= decay * dot(x.links[i], y.links[i]);
      sum += product;
    }
  }
  return sum;
}

double neighbor_by_arcs(const Graph& a, const Graph& b) {
  const auto f = features_of(a);
  const auto g = features_of(b);
  double sum = 0;
  for (const auto& x : arcs_of(a)) {
    for (const auto& y : arcs_of(b)) {
      sum += dot(f[static_cast<size_t>(x.v)], g[static_cast<size_t>(y.v)]) * dot(x.f, y.f);
    }
  }
  return sum;
}

// K_N^(l)(u,u') by recursion over the neighborhood trees of both nodes.
struct Trees {
  std::vector<Vector> f;
  std::vector<Vector> g;
  std::vector<Arc> arcs_a;
  std::vector<Arc> arcs_b;
  double decay;

  double kernel(int64_t u, int64_t w, int64_t hops) const {
    const double own = dot(f[static_cast<size_t>(u)], g[static_cast<size_t>(w)]);
    if (hops == 0) return own;
    double sum = 0;
    for (const auto& x : arcs_a) {
      for (const auto& y : arcs_b) {
        if (x.u == u && y.u == w) sum += kernel(x.v, y.v, hops - 1) * dot(x.f, y.f);
      }
    }
    return own * decay * sum;
  }
};

// r^(d)(u) = [r^(d−1)(u), √λ Σ_v f(e) ⊗ r^(d−1)(v)]
std::vector<Vector> relabeled(const Graph& graph, int64_t depth, double decay) {
  auto labels = features_of(graph);
  for (int64_t d = 0; d < depth; ++d) {
    auto next = labels;
    const size_t width = labels[0].size();
    const size_t attributes = std::max<size_t>(1, graph.link_attributes.columns);
    for (auto& label : next) label.resize(width * (1 + attributes));
    for (const auto& arc : arcs_of(graph)) {
      for (size_t j = 0; j < attributes; ++j) {
        for (size_t i = 0; i < width; ++i) {
          next[static_cast<size_t>(arc.u)][width * (1 + j) + i] +=
              std::sqrt(decay) * arc.f[j] * labels[static_cast<size_t>(arc.v)][i];
        }
      }
    }
    labels = next;
  }
  return labels;
}

double by_definition(const Graph& a, const Graph& b, const KernelOptions& options) {
  if (options.kind == Kind::kNeighbor) return neighbor_by_arcs(a, b);
  if (options.kind == Kind::kNeighborhood) {
    const Trees trees{features_of(a), features_of(b), arcs_of(a), arcs_of(b), options.decay};
    double sum = 0;
    for (int64_t u = 0; u < a.node_count(); ++u) {
      for (int64_t w = 0; w < b.node_count(); ++w) sum += trees.kernel(u, w, options.length);
    }
    return sum;
  }
  const int64_t depth = options.kind == Kind::kWeisfeilerLehman ? options.depth : 0;
  return kernel_of_walks(walks_of(a, relabeled(a, depth, options.decay), options.length),
                         walks_of(b, relabeled(b, depth, options.decay), options.length),
                         options.decay);
}

void expect_close(double found, double expected) {
  EXPECT_NEAR(found, expected, 1e-11 * std::abs(expected) + 1e-12);
}

// Whether A + ε I has a Cholesky factor.
bool positive_semidefinite(Vector a, size_t n) {
  double largest = 0;
  for (size_t i = 0; i < n; ++i) largest = std::max(largest, a[i * n + i]);
  for (size_t i = 0; i < n; ++i) a[i * n + i] += 1e-10 * largest;
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < j; ++k) a[j * n + j] -= a[j * n + k] * a[j * n + k];
    if (!(a[j * n + j] > 0)) return false;
    a[j * n + j] = std::sqrt(a[j * n + j]);
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }
  return true;
}

struct Directions {
  bool directed;
  bool separate_directions;
};

class GraphKernel : public testing::TestWithParam<std::tuple<Layout, Directions>> {
 protected:
  Graph graph(GraphShape shape) const {
    shape.layout = std::get<Layout>(GetParam());
    shape.directed = std::get<Directions>(GetParam()).directed;
    shape.separate_directions = std::get<Directions>(GetParam()).separate_directions;
    return make_graph(shape);
  }
};

std::string case_name(const testing::TestParamInfo<std::tuple<Layout, Directions>>& about) {
  const auto [layout, directions] = about.param;
  if (directions.directed) return join(layout_name(layout), "_directed");
  return join(layout_name(layout),
              directions.separate_directions ? "_separate_directions" : "_undirected");
}

INSTANTIATE_TEST_SUITE_P(
    All, GraphKernel,
    testing::Combine(testing::Values(Layout::kDense, Layout::kSparse, Layout::kDictionary),
                     testing::Values(Directions{false, false}, Directions{true, false},
                                     Directions{false, true})),
    case_name);

TEST_P(GraphKernel, MatchesItsDefinition) {
  const Graph a = graph({.nodes = 5, .links = 6, .seed = 3});
  const Graph b = graph({.nodes = 4, .links = 5, .seed = 4});
  for (const Kind kind : kKinds) {
    for (const int64_t length : {1, 2, 3}) {
      for (const int64_t depth : {0, 1, 2}) {
        const KernelOptions options{.kind = kind, .length = length, .decay = 0.3, .depth = depth};
        SCOPED_TRACE(join(name_of(kind), " ", length, " ", depth));
        const double expected = by_definition(a, b, options);
        EXPECT_NE(expected, 0);
        expect_close(graph_kernel(a, b, options), expected);
        expect_close(graph_kernel(b, a, options), expected);
      }
    }
  }
}

TEST_P(GraphKernel, NodeKernelMatchesTheTreeRecursion) {
  const Graph a = graph({.nodes = 5, .links = 6, .seed = 5});
  const Graph b = graph({.nodes = 4, .links = 5, .seed = 6});
  const Trees trees{features_of(a), features_of(b), arcs_of(a), arcs_of(b), 0.7};
  for (const int64_t hops : {0, 1, 2, 3}) {
    const auto k = node_kernel(a, b, {.kind = Kind::kNeighborhood, .length = hops, .decay = 0.7});
    ASSERT_EQ(k.size(), 20u);
    for (int64_t u = 0; u < 5; ++u) {
      for (int64_t w = 0; w < 4; ++w) {
        expect_close(k[static_cast<size_t>(u * 4 + w)], trees.kernel(u, w, hops));
      }
    }
  }
}

TEST_P(GraphKernel, HasSymmetricPositiveSemidefiniteGramMatrices) {
  std::vector<Graph> graphs;
  for (uint64_t g = 0; g < 7; ++g) {
    graphs.push_back(graph({.nodes = 4 + static_cast<int64_t>(g % 3), .links = 8, .seed = 10 + g}));
  }
  for (const Kind kind : kKinds) {
    for (const bool normalize : {false, true}) {
      const KernelOptions options{.kind = kind, .length = 3, .depth = 2, .normalize = normalize};
      const auto gram = gram_matrix(graphs, options);
      ASSERT_EQ(gram.size(), 49u);
      for (size_t i = 0; i < 7; ++i) {
        if (normalize) {
          EXPECT_EQ(gram[i * 7 + i], 1);
        }
        for (size_t j = 0; j < 7; ++j) {
          EXPECT_EQ(gram[i * 7 + j], gram[j * 7 + i]);
          expect_close(gram[i * 7 + j], graph_kernel(graphs[i], graphs[j], options));
        }
      }
      EXPECT_TRUE(positive_semidefinite(gram, 7)) << name_of(kind);
    }
  }
  EXPECT_FALSE(positive_semidefinite({1, 2, 2, 1}, 2));
}

TEST(GraphKernels, CountWalksWithoutFeaturesAndAttributes) {
  const GraphShape bare{.nodes = 7, .links = 12, .features = 0, .attributes = 0};
  const Graph a = make_graph(bare);
  Vector walks(7, 1);  // number of walks with `length` nodes from each node
  for (int64_t length = 1; length <= 5; ++length) {
    const double count = std::accumulate(walks.begin(), walks.end(), 0.0);
    EXPECT_EQ(graph_kernel(a, a, {.length = length, .decay = 1}), count * count);
    Vector longer(7, 0);
    for (const auto& arc : arcs_of(a)) {
      longer[static_cast<size_t>(arc.u)] += walks[static_cast<size_t>(arc.v)];
    }
    walks = longer;
  }
  const auto arcs = static_cast<double>(a.arc_count());
  EXPECT_EQ(graph_kernel(a, a, {.kind = Kind::kNeighbor}), arcs * arcs);
}

TEST(GraphKernels, RelabelIsolatedNodes) {
  const Graph alone = make_graph({.nodes = 1, .links = 0});
  const Vector f = features_of(alone)[0];
  const KernelOptions options{.kind = Kind::kWeisfeilerLehman, .length = 1, .depth = 3};
  expect_close(graph_kernel(alone, alone, options), dot(f, f));
}

TEST(GraphKernels, AreZeroWithoutWalks) {
  const Graph linked = make_graph({});
  for (const int64_t nodes : {0, 3}) {
    const Graph empty = make_graph({.nodes = nodes, .links = 0});
    EXPECT_EQ(graph_kernel(empty, linked, {.length = 2}), 0);
    EXPECT_EQ(graph_kernel(empty, linked, {.length = 2, .normalize = true}), 0);
    EXPECT_EQ(graph_kernel(empty, empty, {.length = 2, .normalize = true}), 0);
  }
  EXPECT_TRUE(gram_matrix({}, {}).empty());
}

// Bitwise identical for any number of threads, for graphs of several chunks and for small graphs.
TEST(GraphKernels, DoNotDependOnTheNumberOfThreads) {
  std::vector<Graph> large;
  std::vector<Graph> small;
  for (uint64_t g = 0; g < 3; ++g) {
    large.push_back(make_graph({.nodes = 300, .links = 900, .seed = g}));
    small.push_back(make_graph({.nodes = 20, .links = 50, .seed = g}));
  }
  for (const Kind kind : kKinds) {
    for (const auto* graphs : {&large, &small}) {
      const auto matrix = [&](int threads) {
        const ThreadLimit limit(threads);
        return gram_matrix(*graphs, {.kind = kind});
      };
      const auto expected = matrix(1);
      expect_close(graph_kernel((*graphs)[1], (*graphs)[2], {.kind = kind}), expected[5]);
      for (const int threads : {2, 7}) {
        EXPECT_EQ(matrix(threads), expected) << name_of(kind);
      }
    }
  }
}

TEST(GraphKernels, RejectIncompatibleGraphsAndInvalidOptions) {
  const Graph a = make_graph({});
  const Graph wide = make_graph({.features = 4});
  const Graph more = make_graph({.attributes = 3});
  const Graph none = make_graph({.attributes = 0});
  expect_error([&] { graph_kernel(a, wide, {}); },
               {"cannot compare graphs with 3 and 4 node features; expected equal numbers"});
  expect_error([&] { graph_kernel(wide, a, {}); }, {"4 and 3 node features"});
  expect_error([&] { node_kernel(a, more, {}); }, {"2 and 3 link attributes"});
  expect_error([&] { gram_matrix(std::vector{none, none, a}, {}); }, {"0 and 2 link attributes"});
  expect_error([&] { graph_kernel(a, a, {.length = 0}); }, {"--length 0: must be from 1 to 1000"});
  expect_error([&] { graph_kernel(a, a, {.kind = Kind::kNeighborhood, .length = -1}); },
               {"--length -1: must be from 0 to 1000"});
  expect_error([&] { graph_kernel(a, a, {.depth = -1}); }, {"--depth -1: must be from 0 to 1000"});
  for (const double decay : {0.0, -0.5, 1.5, std::nan("")}) {
    expect_error([&] { graph_kernel(a, a, {.decay = decay}); },
                 {"--decay ", "must be a positive number up to 1"});
  }
  expect_error([] { kernel_named("sage"); }, {"unknown kernel 'sage'"});
  expect_error([&] { graph_kernel(a, a, {.length = 1000, .decay = 1}); }, {"overflows"});
}

TEST(GraphKernels, RejectGraphsThatNeedTooMuchMemory) {
  const Graph a = make_graph({.nodes = 20000, .links = 0});
  const Graph b = make_graph({.nodes = 10, .links = 0});
  expect_error([&] { graph_kernel(a, a, {}); },
               {"graphs with 20000 and 20000 nodes needs 9 GiB, expected at most 6 GiB"});
  EXPECT_NO_THROW(graph_kernel(a, b, {}));
  expect_error([&] { graph_kernel(b, a, {.normalize = true}); }, {"20000 and 20000"});
}

TEST(GraphKernels, HaveNames) {
  for (const Kind kind : kKinds) EXPECT_EQ(kernel_named(name_of(kind)), kind);
}

}  // namespace
}  // namespace lase
