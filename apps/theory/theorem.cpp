#include "theory/theorem.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/names.h"
#include "lase/base/random.h"
#include "lase/graph/arcs.h"

#include "theory/graph_kernels.h"

namespace lase {
namespace {

enum Stream : uint64_t { kEnds = 1, kFeatures, kAttributes, kW, kU };

constexpr std::array<std::string_view, 3> kDirectionNames = {
    "undirected", "undirected, separate directions", "directed"};

size_t index(int64_t i) { return static_cast<size_t>(i); }

std::vector<float> normals(int64_t count, Random random) {
  std::vector<float> values(index(count));
  std::generate(values.begin(), values.end(), [&] { return static_cast<float>(random.normal()); });
  return values;
}

struct Ends {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
};

struct Values {
  std::vector<float> features;    // [nodes, …]
  std::vector<float> attributes;  // [rows, …]
};

Graph make_graph(int64_t nodes, LinkDirection direction, const Ends& ends, Values values) {
  const auto columns = [](const std::vector<float>& all, int64_t rows) {
    return static_cast<int64_t>(all.size()) / std::max<int64_t>(1, rows);
  };
  Graph graph;
  graph.directed = direction == LinkDirection::kDirected;
  graph.separate_directions = direction == LinkDirection::kSeparate;
  graph.links = static_cast<int64_t>(ends.source.size());
  graph.adjacency() = build_adjacency({.source = ends.source,
                                       .target = ends.target,
                                       .nodes = nodes,
                                       .directed = graph.directed,
                                       .keep_self_loops = true},
                                      graph.separate_directions);
  const int64_t features = columns(values.features, nodes);
  const int64_t attribute_rows = graph.separate_directions ? 2 * graph.links : graph.links;
  const int64_t attributes = columns(values.attributes, attribute_rows);
  graph.nodes.names = numbered_names("", nodes);
  graph.nodes.features = Attributes::dense(std::move(values.features), nodes, features);
  graph.nodes.feature_names = numbered_names("feature ", features);
  graph.link_attributes =
      Attributes::dense(std::move(values.attributes), attribute_rows, attributes);
  graph.attribute_names = numbered_names("attribute ", attributes);
  return graph;
}

// ⟨weights, row of f⟩
double dot(const float* weights, const Attributes& f, int64_t row) {
  double sum = 0;
  f.for_each(row, [&](int64_t j, float value) { sum += double{weights[j]} * double{value}; });
  return sum;
}

TheoremSide side(const TheoremCase& on, const TheoremRow& row, LaseRwForm form) {
  const auto& [graph, weights] = on;
  const auto h = lase_rw_states(graph, weights, row.l, form);
  TheoremSide found{};
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    found.sum_of_states += h[index(u * weights.width + row.k)];
  }
  found.kernel = graph_kernel(graph, path_graph(weights, row.l, row.k, form),
                              {.kind = KernelKind::kRandomWalk,
                               .length = row.l + 1,
                               .decay = weights.gate,
                               .depth = 0,
                               .normalize = false});
  const double larger = std::max(std::abs(found.sum_of_states), std::abs(found.kernel));
  const double difference = std::abs(found.sum_of_states - found.kernel);
  found.relative_difference = larger > 0 ? difference / larger : 0;
  return found;
}

}  // namespace

std::string_view name_of(LinkDirection direction) { return name_in(kDirectionNames, direction); }

std::vector<double> lase_rw_states(const Graph& graph, const LaseRwWeights& weights, int64_t l,
                                   LaseRwForm form) {
  const int64_t n = graph.node_count();
  const int64_t width = weights.width;
  std::vector<double> h(index(n * width));
  for (int64_t u = 0; u < n; ++u) {
    for (int64_t k = 0; k < width; ++k) {
      h[index(u * width + k)] = dot(weights.w_row(0, k), graph.nodes.features, u);
    }
  }
  const bool walk = form == LaseRwForm::kWalk;
  for (int64_t layer = 1; layer <= l; ++layer) {
    std::vector<double> next(h.size());
    for (int64_t u = 0; u < n; ++u) {
      for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
        const int64_t v = graph.neighbor[i];
        for (int64_t k = 0; k < width; ++k) {
          const double u_f = dot(weights.u_row(layer, k), graph.link_attributes, graph.link[i]);
          const double w_f = dot(weights.w_row(layer, k), graph.nodes.features, walk ? u : v);
          next[index(u * width + k)] +=
              weights.gate * h[index((walk ? v : u) * width + k)] * u_f * w_f;
        }
      }
    }
    h = std::move(next);
  }
  return h;
}

Graph path_graph(const LaseRwWeights& weights, int64_t l, int64_t k, LaseRwForm form) {
  Ends ends;
  Values values;
  for (int64_t i = 0; i <= l; ++i) {
    const float* w = weights.w_row(i, k);
    values.features.insert(values.features.end(), w, w + weights.features);
    if (i == l) break;
    const float* u = weights.u_row(i + 1, k);
    values.attributes.insert(values.attributes.end(), u, u + weights.attributes);
    ends.source.push_back(static_cast<int32_t>(i));
    ends.target.push_back(static_cast<int32_t>(i + 1));
  }
  if (form == LaseRwForm::kWalk) std::swap(ends.source, ends.target);
  return make_graph(l + 1, LinkDirection::kDirected, ends, std::move(values));
}

TheoremCase theorem_case(const TheoremOptions& options, LinkDirection direction, int64_t number) {
  for (const int64_t size : {options.nodes, options.links, options.features, options.attributes,
                             options.width, options.layers}) {
    require(size >= 1, "theorem 1: the options contain a size of ", size, ", expected at least 1");
  }
  const auto random = [&](Stream stream) {
    return Random(options.seed, direction, number, stream);
  };
  Random ends_random = random(kEnds);
  Ends ends;
  for (int64_t i = 0; i < options.links; ++i) {
    for (auto* end : {&ends.source, &ends.target}) {
      end->push_back(static_cast<int32_t>(ends_random.below(static_cast<uint64_t>(options.nodes))));
    }
  }
  const int64_t rows = (direction == LinkDirection::kSeparate ? 2 : 1) * options.links;
  return {
      .graph = make_graph(options.nodes, direction, ends,
                          {.features = normals(options.nodes * options.features, random(kFeatures)),
                           .attributes = normals(rows * options.attributes, random(kAttributes))}),
      .weights = {.layers = options.layers,
                  .width = options.width,
                  .features = options.features,
                  .attributes = options.attributes,
                  .w = normals((options.layers + 1) * options.width * options.features, random(kW)),
                  .u = normals(options.layers * options.width * options.attributes, random(kU)),
                  .gate = options.gate}};
}

std::vector<TheoremRow> check_theorem(const TheoremOptions& options) {
  std::vector<TheoremRow> rows;
  for (const auto direction :
       {LinkDirection::kUndirected, LinkDirection::kSeparate, LinkDirection::kDirected}) {
    for (int64_t g = 0; g < options.graphs; ++g) {
      const TheoremCase on = theorem_case(options, direction, g);
      for (int64_t l = 1; l <= options.layers; ++l) {
        for (int64_t k = 0; k < options.width; ++k) {
          TheoremRow row{direction, g, l, k, {}, {}};
          row.walk = side(on, row, LaseRwForm::kWalk);
          row.printed = side(on, row, LaseRwForm::kPrinted);
          rows.push_back(row);
        }
      }
    }
  }
  return rows;
}

}  // namespace lase
