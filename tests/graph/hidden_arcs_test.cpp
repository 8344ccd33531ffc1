#include "lase/graph/hidden_arcs.h"

#include <algorithm>
#include <set>

#include "lase/base/random.h"

#include "link_support.h"
#include "support.h"

namespace lase {
namespace {

using Ids = std::vector<int32_t>;
using Arcs = std::vector<int64_t>;

// The arcs of u that lead to v with hidden(u, v), or those that do not.
template <class Hidden>
Arcs arcs_between(const Adjacency& graph, int64_t u, const Hidden& hidden, bool wanted) {
  Arcs arcs;
  for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
    if (hidden(u, graph.neighbor[i]) == wanted) arcs.push_back(i);
  }
  return arcs;
}

TEST(HiddenArcs, AreAllArcsBetweenTheNodesInBothDirections) {
  for (const bool directed : {false, true}) {
    for (const bool keep_parallel : {false, true}) {
      const Graph graph = random_links({.nodes = 20,
                                        .links = 60,
                                        .directed = directed,
                                        .repeated = true,
                                        .keep_parallel = keep_parallel});
      // Existing links, one of them twice and once reversed, and random pairs without links.
      Ids source;
      Ids target;
      std::set<std::pair<int64_t, int64_t>> pairs;
      const auto hide = [&](int32_t u, int32_t v) {
        source.push_back(u);
        target.push_back(v);
        pairs.insert(std::minmax<int64_t>(u, v));
      };
      for (int64_t i = 0; i < graph.targets.size(); i += 4) {
        hide(graph.targets.source[i], graph.targets.target[i]);
      }
      hide(source[0], target[0]);
      hide(target[0], source[0]);
      Random random(3);
      for (int i = 0; i < 5; ++i) {
        hide(static_cast<int32_t>(random.below(20)), static_cast<int32_t>(random.below(20)));
      }
      const auto is_hidden = [&](int64_t u, int64_t v) {
        return pairs.contains(std::minmax(u, v));
      };
      const HiddenArcs hidden(graph, source, target);
      EXPECT_FALSE(hidden.empty());
      const Adjacency visible = visible_arcs(graph, hidden);
      ASSERT_EQ(visible.node_count(), graph.node_count());
      int64_t parallel = 0;
      for (int64_t u = 0; u < graph.node_count(); ++u) {
        const auto of_u = hidden.of(graph, u);
        const Arcs expected = arcs_between(graph, u, is_hidden, true);
        EXPECT_EQ(Arcs(of_u.begin(), of_u.end()), expected);
        for (size_t i = 1; i < expected.size(); ++i) {
          parallel += graph.neighbor[expected[i]] == graph.neighbor[expected[i - 1]] ? 1 : 0;
        }
        const Arcs kept = arcs_between(graph, u, is_hidden, false);
        EXPECT_EQ(hidden.visible_degree(graph, u), std::ssize(kept));
        ASSERT_EQ(visible.degree(u), std::ssize(kept));
        for (size_t i = 0; i < kept.size(); ++i) {
          const int64_t arc = visible.row_ptr[u] + static_cast<int64_t>(i);
          EXPECT_EQ(visible.neighbor[arc], graph.neighbor[kept[i]]);
          EXPECT_EQ(visible.link[arc], graph.link[kept[i]]);
        }
      }
      EXPECT_EQ(parallel > 0, keep_parallel);
    }
  }
}

TEST(HiddenArcs, MayBeNoneOrAll) {
  const Graph graph = random_links({.nodes = 20, .links = 60});
  const HiddenArcs none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(visible_arcs(graph, none).arc_count(), graph.arc_count());
  EXPECT_EQ(none.visible_degree(graph, 3), graph.degree(3));
  const HiddenArcs all(graph, graph.targets.source, graph.targets.target);
  EXPECT_EQ(visible_arcs(graph, all).arc_count(), 0);
  for (int64_t u = 0; u < graph.node_count(); ++u) EXPECT_EQ(all.visible_degree(graph, u), 0);
}

}  // namespace
}  // namespace lase
