#include "experiments/attribute_effects.h"

#include <algorithm>

#include "lase/base/error.h"
#include "lase/base/format.h"

#include "report/chart.h"

namespace lase {
namespace {

constexpr size_t kShown = 20;

const char* score_name(const AttributeEffects& effects) {
  return effects.task == Task::kRegression ? "the standardized prediction"
                                           : "the score of the predicted class";
}

nlohmann::json json_of(const AttributeSummary& summary) {
  return {{"attribute", summary.name},
          {"links", summary.links},
          {"effect", summary.effect},
          {"absolute_effect", summary.absolute_effect},
          {"metric_change", summary.metric_change}};
}

}  // namespace

std::string attribute_effects_text(const AttributeEffects& effects, const std::string& nodes) {
  std::string text =
      join("The model on ", grouped(effects.nodes), " ", nodes, ": ", effects.metric.title, " ",
           fixed(effects.metric.value, 4), ".\nEffect: ", score_name(effects),
           " minus its value if the attribute is replaced on "
           "all links by its training mean (0 for sparse attributes).\n\n");
  TextTable table{.columns = {"attribute", "mean |effect|", "mean effect",
                              join("change in ", effects.metric.title), "links"}};
  const auto add = [&](const AttributeSummary& summary) {
    table.rows.push_back({summary.name, fixed(summary.absolute_effect, 4),
                          signed_fixed(summary.effect, 4), signed_fixed(summary.metric_change, 4),
                          grouped(summary.links)});
  };
  const size_t shown = std::min(effects.attributes.size(), kShown);
  for (size_t i = 0; i < shown; ++i) add(effects.attributes[i]);
  add(effects.all);
  text += table.text();
  const auto examined = std::ssize(effects.attributes);
  if (examined < effects.columns) {
    text += join("\nExamined ", grouped(examined), " of ", grouped(effects.columns),
                 " attributes, those on most links.\n");
  }
  if (shown < effects.attributes.size()) {
    text += join("\nShown: the ", shown, " largest of ", grouped(examined), ".\n");
  }
  return text;
}

TextTable attribute_effects_table(const AttributeEffects& effects) {
  TextTable table{.columns = {"attribute", "links", "effect", "absolute_effect", "metric_change"}};
  const auto add = [&](const AttributeSummary& summary) {
    table.rows.push_back({summary.name, std::to_string(summary.links), fixed(summary.effect, 6),
                          fixed(summary.absolute_effect, 6), fixed(summary.metric_change, 6)});
  };
  for (const auto& summary : effects.attributes) add(summary);
  add(effects.all);
  return table;
}

nlohmann::json attribute_effects_json(const AttributeEffects& effects) {
  auto list = nlohmann::json::array();
  for (const auto& summary : effects.attributes) list.push_back(json_of(summary));
  return {{"nodes", effects.nodes},
          {"metric", effects.metric.key},
          {effects.metric.key, effects.metric.value},
          {"all", json_of(effects.all)},
          {"attributes", list}};
}

std::string attribute_effects_svg(const AttributeEffects& effects) {
  DotPlot plot{.x_label = join("mean absolute effect on ", score_name(effects)),
               .value_name = "mean over nodes",
               .decimals = 3,
               .best = Best::kNone};
  DotPanel panel{.title = join("Link attributes, ", grouped(effects.nodes), " nodes (",
                               fixed(effects.all.absolute_effect, plot.decimals),
                               " for all attributes together)")};
  for (size_t i = 0; i < std::min(effects.attributes.size(), kShown); ++i) {
    plot.rows.push_back({.name = effects.attributes[i].name});
    panel.scores.push_back({.value = effects.attributes[i].absolute_effect});
  }
  plot.panels.push_back(std::move(panel));
  return svg_picture(plot);
}

}  // namespace lase
