#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/format.h"

#include "experiments/experiments.h"
#include "report/chart.h"
#include "theory/theorem.h"

namespace lase {
namespace {

struct Extremes {
  double walk = 0;     // largest relative difference
  double printed = 1;  // smallest relative difference
};

}  // namespace

Document theorem1(Lab& lab) {
  const TheoremOptions options{.graphs = lab.quick() ? 5 : 100};
  const auto rows = check_theorem(options);
  Document document{.name = "theorem1", .title = "Theorem 1: LASE-RW and the random-walk kernel"};
  document.text =
      "Compares Σ_v h^(l)(v)[k] with the kernel of the graph and the path L_{l,k} in double "
      "precision, on " +
      std::to_string(options.graphs) +
      " random graphs per link type, with constant λ and linear activations. The walk form "
      "multiplies h^(l−1)(v) by W f(u); the printed form multiplies h^(l−1)(u) by W f(v).";
  document.table.columns = {"links", "l", "walk form: largest relative difference",
                            "printed form: smallest relative difference"};
  document.values.columns = {"links", "graph", "l", "k", "walk", "printed"};
  std::map<std::pair<LinkDirection, int64_t>, Extremes> extremes;
  for (const auto& row : rows) {
    auto& found = extremes[{row.direction, row.l}];
    found.walk = std::max(found.walk, row.walk.relative_difference);
    found.printed = std::min(found.printed, row.printed.relative_difference);
    document.values.rows.push_back({std::string(name_of(row.direction)), std::to_string(row.graph),
                                    std::to_string(row.l), std::to_string(row.k),
                                    scientific(row.walk.relative_difference, 1),
                                    scientific(row.printed.relative_difference, 1)});
  }
  LineChart chart{.title = "log10 of the relative difference between the two sides of Theorem 1",
                  .x_label = "number of layers l"};
  double worst = 0;
  for (const auto direction :
       {LinkDirection::kUndirected, LinkDirection::kSeparate, LinkDirection::kDirected}) {
    Series walk{.name = join(name_of(direction), ", walk form (largest)")};
    Series printed{.name = join(name_of(direction), ", printed form (smallest)")};
    printed.dashed = true;
    for (int64_t l = 1; l <= options.layers; ++l) {
      const Extremes& found = extremes[{direction, l}];
      worst = std::max(worst, found.walk);
      walk.x.push_back(static_cast<double>(l));
      printed.x.push_back(static_cast<double>(l));
      walk.y.push_back(std::log10(std::max(found.walk, 1e-17)));
      printed.y.push_back(std::log10(std::max(found.printed, 1e-17)));
      document.table.rows.push_back({std::string(name_of(direction)), std::to_string(l),
                                     scientific(found.walk, 1), scientific(found.printed, 1)});
    }
    chart.series.push_back(walk);
    chart.series.push_back(printed);
  }
  for (int64_t l = 1; l <= options.layers; ++l) {
    chart.x_ticks.push_back({static_cast<double>(l), std::to_string(l)});
  }
  chart.width = 760;
  document.svg = svg_picture(chart);
  document.notes =
      std::string(worst < 1e-10 ? "The theorem holds for the walk form"
                                : "The theorem FAILS for the walk form") +
      " (largest difference " + scientific(worst, 1) +
      "). The printed form satisfies it for l = 1, where a star with one neighbor is a walk, and "
      "fails for l ≥ 2.";
  return document;
}

}  // namespace lase
