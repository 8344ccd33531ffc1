#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/check_arrays.h"
#include "lase/graph/graph.h"

namespace lase {
namespace {

constexpr int64_t kGrain = 1 << 16;

void check_targets(const Graph& graph, const std::string& path) {
  const LinkTargets& targets = graph.targets;
  check_range(targets.source, 0, graph.node_count(), "targets.source", path);
  check_range(targets.target, 0, graph.node_count(), "targets.target", path);
  check_attributes(targets.attributes, "targets.attributes", path);
  check_range(targets.labels.label, -1, targets.labels.classes(), "targets.labels", path);
  check_finite(targets.labels.target, "targets.values", path, Unknown::kAllowed);
  check_strings(targets.attribute_names, "targets.attribute_names", path);
  check_strings(targets.labels.names, "targets.label_names", path);
  check_split(targets.split, Split::kNone, "targets.split", path);
}

}  // namespace

void check_graph(const Graph& graph, const std::string& path) {
  const int64_t n = graph.node_count();
  check_ascending(graph.row_ptr, "row_ptr", path);
  check_range(graph.neighbor, 0, n, "neighbor", path);
  graph.link.visit([&](const auto& link) {
    check_range(link, 0, graph.links * (graph.separate_directions ? 2 : 1), "link", path);
  });
  check_attributes(graph.link_attributes, "link_attributes", path);
  check_attributes(graph.nodes.features, "node_features", path);
  check_labels(graph.nodes.labels, path);
  check_strings(graph.nodes.names, "names", path);
  check_strings(graph.nodes.feature_names, "node_feature_names", path);
  check_strings(graph.attribute_names, "link_attribute_names", path);
  for (const auto& [name, reduction] : {std::pair{"node_reduction", &graph.node_reduction},
                                        {"link_reduction", &graph.link_reduction}}) {
    check_finite(reduction->mean, join(name, ".mean"), path);
    check_finite(reduction->components, join(name, ".components"), path);
    check_strings(reduction->names, join(name, ".names"), path);
  }
  check_split(graph.nodes.split, Split::kNone, "split", path);
  check_split(graph.link_split, Split::kTrain, "link_split", path);
  check_targets(graph, path);
}

namespace {

// Neighbors ascend within a row; arcs to the same neighbor ascend by attribute row.
void check_order(const Graph& graph, const std::string& path) {
  parallel_for(graph.node_count(), kGrain, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      for (int64_t i = graph.row_ptr[u] + 1; i < graph.row_ptr[u + 1]; ++i) {
        const bool ascends = std::pair(graph.neighbor[i - 1], graph.link[i - 1]) <
                             std::pair(graph.neighbor[i], graph.link[i]);
        require(ascends, path, ": the neighbors of node ", u, " are not in ascending order");
      }
    }
  });
}

// A link of an undirected graph is stored as two arcs in opposite directions, a self-loop as one
// arc; a link of a directed graph is one arc.
void check_symmetry(const Graph& graph, const std::string& path) {
  struct Ends {
    int32_t u = -1;
    int32_t v = -1;
  };
  std::vector<Ends> ends(static_cast<size_t>(graph.links));
  std::vector<uint8_t> arcs(ends.size());
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int64_t link = graph.link_of_row(graph.link[i]);
      const int32_t v = graph.neighbor[i];
      Ends& other = ends[static_cast<size_t>(link)];
      uint8_t& count = arcs[static_cast<size_t>(link)];
      const bool fits =
          count == 0 || (count == 1 && !graph.directed && other.u == v && other.v == u && u != v);
      require(fits, path, ": link ", link, " is stored by arcs that do not belong together");
      other = {static_cast<int32_t>(u), v};
      ++count;
    }
  }
  for (size_t link = 0; link < ends.size(); ++link) {
    const int expected = graph.directed || ends[link].u == ends[link].v ? 1 : 2;
    require(arcs[link] == expected, path, ": link ", link, " has ", int{arcs[link]},
            " arcs, expected ", expected);
  }
}

// A link in the split of a target joins its nodes; any link, if the target belongs to no split.
void check_target_links(const Graph& graph, const std::string& path) {
  const LinkTargets& targets = graph.targets;
  const auto split_of = [](const Array<uint8_t>& split, int64_t i) {
    return static_cast<Split>(split.empty() ? 0 : split[i]);
  };
  parallel_for(targets.size(), kGrain, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      const int32_t u = targets.source[t];
      const int32_t v = targets.target[t];
      const Split wanted = split_of(targets.split, t);
      const auto row = graph.neighbor.slice(graph.row_ptr[u], graph.row_ptr[u + 1]);
      const auto [from, to] = std::equal_range(row.begin(), row.end(), v);
      bool found = false;
      for (auto at = from; at != to && !found; ++at) {
        const int64_t arc = graph.row_ptr[u] + (at - row.begin());
        const Split split = split_of(graph.link_split, graph.link_of_row(graph.link[arc]));
        found = wanted == Split::kNone || split == Split::kNone || split == wanted;
      }
      require(found, path, ": target ", t, " joins the nodes ", u, " and ", v,
              ", which no link in its split does");
    }
  });
}

}  // namespace

void check_structure(const Graph& graph, const std::string& path) {
  check_order(graph, path);
  check_symmetry(graph, path);
  check_target_links(graph, path);
}

}  // namespace lase
