#include "theory/theorem.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"

#include "support.h"
#include "theory/graph_kernels.h"

namespace lase {
namespace {

constexpr LinkDirection kDirections[] = {LinkDirection::kUndirected, LinkDirection::kSeparate,
                                         LinkDirection::kDirected};

double dot(const float* weights, const Floats& f) {
  double sum = 0;
  for (size_t j = 0; j < f.size(); ++j) sum += double{weights[j]} * double{f[j]};
  return sum;
}

// One coordinate k of a case, with the products of its weights in the paper's notation.
struct Coordinate {
  TheoremCase on;
  int64_t k = 0;

  const Graph& graph() const { return on.graph; }
  double w(int64_t l, int64_t u) const {
    return dot(on.weights.w_row(l, k), row(graph().nodes.features, u));
  }
  double u(int64_t l, int64_t arc) const {
    return dot(on.weights.u_row(l, k), row(graph().link_attributes, graph().link[arc]));
  }

  // Sum over the walks from u with l links of λ^l W^(l) f(u_0) U^(l) f(e_1) W^(l−1) f(u_1) …
  double walks_from(int64_t node, int64_t l) const {
    if (l == 0) return w(0, node);
    double sum = 0;
    for (int64_t i = graph().row_ptr[node]; i < graph().row_ptr[node + 1]; ++i) {
      sum += w(l, node) * on.weights.gate * u(l, i) * walks_from(graph().neighbor[i], l - 1);
    }
    return sum;
  }

  // Sum over the stars of l arcs (e_i, v_i) from u of λ^l W^(0) f(u) Π_i U^(i) f(e_i) W^(i) f(v_i)
  double stars_at(int64_t node, int64_t l) const {
    if (l == 0) return w(0, node);
    double sum = 0;
    for (int64_t i = graph().row_ptr[node]; i < graph().row_ptr[node + 1]; ++i) {
      sum += on.weights.gate * u(l, i) * w(l, graph().neighbor[i]) * stars_at(node, l - 1);
    }
    return sum;
  }
};

double relative(double a, double b) { return std::abs(a - b) / std::max(std::abs(a), std::abs(b)); }

KernelOptions walks_over(int64_t links, double gate) {
  return {.kind = KernelKind::kRandomWalk, .length = links + 1, .decay = gate};
}

TEST(Theorem1, HoldsForTheWalkForm) {
  const auto rows = check_theorem({});
  ASSERT_EQ(rows.size(), 3u * 3 * 4 * 3);
  for (const auto& row : rows) {
    EXPECT_LT(row.walk.relative_difference, 1e-10) << name_of(row.direction) << " " << row.l;
    EXPECT_NE(row.walk.kernel, 0);
    EXPECT_NEAR(row.walk.sum_of_states, row.walk.kernel, 1e-10 * std::abs(row.walk.kernel));
  }
}

TEST(Theorem1, HoldsForThePrintedFormOnlyForOneLayer) {
  for (const auto& row : check_theorem({})) {
    SCOPED_TRACE(join(name_of(row.direction), " ", row.l));
    if (row.l == 1) {
      EXPECT_LT(row.printed.relative_difference, 1e-10);
    } else {
      EXPECT_GT(row.printed.relative_difference, 1e-3);
    }
  }
}

TEST(Theorem1, UsesDifferentGraphsForDifferentSeeds) {
  const auto rows = check_theorem({.graphs = 2, .layers = 1});
  const auto others = check_theorem({.graphs = 2, .layers = 1, .seed = 2});
  ASSERT_EQ(rows.size(), others.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_NE(rows[i].walk.kernel, others[i].walk.kernel);
    for (size_t j = 0; j < i; ++j) EXPECT_NE(rows[i].walk.kernel, rows[j].walk.kernel);
  }
}

TEST(LaseRw, SumsOverWalksOrStars) {
  for (const auto direction : kDirections) {
    const Coordinate at{theorem_case({.nodes = 6, .links = 10}, direction, 0), 1};
    for (int64_t l = 0; l <= 4; ++l) {
      const auto walk = lase_rw_states(at.graph(), at.on.weights, l, LaseRwForm::kWalk);
      const auto printed = lase_rw_states(at.graph(), at.on.weights, l, LaseRwForm::kPrinted);
      for (int64_t u = 0; u < 6; ++u) {
        const auto i = static_cast<size_t>(u * at.on.weights.width + at.k);
        const double walks = at.walks_from(u, l);
        const double stars = at.stars_at(u, l);
        EXPECT_NEAR(walk[i], walks, 1e-11 * std::abs(walks));
        EXPECT_NEAR(printed[i], stars, 1e-11 * std::abs(stars));
      }
    }
  }
}

// The direction of the path matters only if the two arcs of a link differ.
TEST(PathGraph, PointsInTheDirectionOfTheWalk) {
  for (const auto direction : kDirections) {
    const auto [graph, weights] = theorem_case({}, direction, 0);
    for (int64_t l = 1; l <= 4; ++l) {
      const auto options = walks_over(l, weights.gate);
      const double along =
          graph_kernel(graph, path_graph(weights, l, 0, LaseRwForm::kWalk), options);
      const double against =
          graph_kernel(graph, path_graph(weights, l, 0, LaseRwForm::kPrinted), options);
      if (direction == LinkDirection::kUndirected) {
        EXPECT_LT(relative(along, against), 1e-10);
      } else {
        EXPECT_GT(relative(along, against), 1e-4);
      }
    }
  }
}

TEST(PathGraph, HasOneWalkAlongAllLinks) {
  const auto weights = theorem_case({}, LinkDirection::kDirected, 0).weights;
  for (const auto form : {LaseRwForm::kWalk, LaseRwForm::kPrinted}) {
    for (int64_t l = 1; l <= 4; ++l) {
      Graph path = path_graph(weights, l, 2, form);
      EXPECT_NO_THROW(check_graph(path, "path"));
      EXPECT_EQ(path.node_count(), l + 1);
      EXPECT_EQ(path.arc_count(), l);
      for (int64_t i = 0; i <= l; ++i) {
        EXPECT_EQ(row(path.nodes.features, i),
                  Floats(weights.w_row(i, 2), weights.w_row(i, 2) + weights.features));
      }
      for (int64_t i = 0; i < l; ++i) {
        EXPECT_EQ(row(path.link_attributes, i),
                  Floats(weights.u_row(i + 1, 2), weights.u_row(i + 1, 2) + weights.attributes));
      }
      path.nodes.features = {};
      path.link_attributes = {};
      EXPECT_EQ(graph_kernel(path, path, walks_over(l, 1)), 1);
      EXPECT_EQ(graph_kernel(path, path, walks_over(l + 1, 1)), 0);
    }
  }
}

TEST(Theorem1, RejectsInvalidSizes) {
  expect_error([] { check_theorem({.links = 0}); }, {"a size of 0, expected at least 1"});
  expect_error([] { check_theorem({.layers = -1}); }, {"a size of -1"});
}

}  // namespace
}  // namespace lase
