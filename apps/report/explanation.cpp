#include "report/explanation.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "lase/base/format.h"

#include "report/svg.h"

namespace lase {
namespace {

using nlohmann::json;
using svg::Place;

constexpr double kWidth = 600;  // of one layer
constexpr double kHeight = 520;
constexpr double kRadius = 150;    // of the circle of neighbors
constexpr double kNameRoom = 110;  // width available for the name of a neighbor
constexpr std::string_view kFor = "#1f6fb4";
constexpr std::string_view kAgainst = "#c0392b";

std::string number(double value) { return fixed(value, 3); }
// Effects that round to zero have two significant digits: links of a hub have small ones.
std::string signed_number(double value) {
  if (value == 0) return number(value);
  if (std::abs(value) >= 0.0005) return signed_fixed(value, 3);
  return (value < 0 ? "−" : "+") + scientific(std::abs(value), 1);
}

std::string attribute_effect(const AttributeEffect& attribute) {
  return fmt::format("effect {}, share {}%", signed_number(attribute.effect),
                     fixed(100 * attribute.amplifier_fraction, 0));
}

using Target = std::optional<double>;

// Classification explains a logit, regression a standardized target, link prediction a score.
const char* score_name(const Explanation& explanation, const Target& target) {
  if (target) return "standardized target";
  return explanation.probability == 0 && explanation.output == "score" ? "score" : "logit";
}

// `subject`: "node A".
std::string headline(const std::string& subject, const Explanation& explanation,
                     const Target& target) {
  const std::string score = number(explanation.score);
  if (target) {
    return fmt::format("{}: {} {} (standardized {})", subject, explanation.output,
                       significant(*target, 3), score);
  }
  if (std::string_view(score_name(explanation, target)) == "score") {
    return fmt::format("{}: score {}", subject, score);
  }
  const bool other = !explanation.predicted.empty() && explanation.predicted != explanation.output;
  return fmt::format("{}: {}{}, probability {}, logit {}", subject,
                     other ? "predicted " + explanation.predicted + "; explaining " : "",
                     explanation.output, number(explanation.probability), score);
}

// An effect, and its part of the difference between the score and the bias: "+0.412 (13 %)".
std::string relative(double effect, const Explanation& explanation) {
  const double bias = explanation.own ? explanation.own->bias : 0;
  const double difference = std::abs(explanation.score - bias);
  if (difference == 0) return signed_number(effect);
  return fmt::format("{} ({} %)", signed_number(effect),
                     fixed(100 * std::abs(effect) / difference, 0));
}

// The part of the node itself, and of all its links.
std::string own_text(const Explanation& explanation, const Target& target) {
  const OwnEffects& own = *explanation.own;
  std::string text =
      fmt::format("\nown features: effect {}\n", relative(own.features, explanation));
  for (const auto& feature : own.top) {
    text += fmt::format("      {:<24} = {}  effect {}\n", feature.name, number(feature.value),
                        relative(feature.effect, explanation));
  }
  text += fmt::format("all own links: effect {}\n", relative(own.links, explanation));
  text += fmt::format("both together: effect {}\n",
                      relative(explanation.score - own.bias, explanation));
  text += fmt::format("bias: {} of a node with average features and without links {}\n",
                      score_name(explanation, target), number(own.bias));
  return text;
}

// Whether attributes of a direction are shown.
bool shows_directions(const Explanation& explanation) {
  for (const auto& layer : explanation.layers) {
    for (const auto& neighbor : layer.neighbors) {
      for (const auto& attribute : neighbor.attributes) {
        if (attribute.name.starts_with("out ") || attribute.name.starts_with("in ")) return true;
      }
    }
  }
  return false;
}

// `center`: whose links are shown.
std::string legend(const Explanation& explanation, const Target& target,
                   const std::string& center) {
  std::string text = fmt::format(
      "effect: change of the {0} due to the feature, link or attribute, and in parentheses its "
      "size relative to the difference between the {0} and the bias; effects need not add up; "
      "gate: "
      "λ(u,v); share: part of Σ|U f(e)| due to the attribute",
      score_name(explanation, target));
  if (shows_directions(explanation)) text += "; out/in: sent/received by " + center;
  return text;
}

std::string hint(const NeighborEffect& neighbor) {
  std::string text = fmt::format("{}: effect {}, gate {}", neighbor.name,
                                 signed_number(neighbor.effect), number(neighbor.gate));
  for (const auto& attribute : neighbor.attributes) {
    text += fmt::format("\n{} = {}: {}", attribute.name, number(attribute.value),
                        attribute_effect(attribute));
  }
  return text;
}

// How the effects were computed, unless all of them are exact.
std::string method(const LayerExplanation& layer) {
  std::string text;
  if (layer.exact_links < layer.links) {
    text += fmt::format("  exact effects of the {} links with the largest first-order effects\n",
                        layer.exact_links);
  }
  if (!layer.attributes_exact) text += "  effects of attributes are first-order estimates\n";
  return text;
}

// A neighbor at an angle in radians, clockwise from the right.
void draw_neighbor(svg::Drawing& drawing, const NeighborEffect& neighbor, Place center,
                   double angle, double largest) {
  const Place direction{std::cos(angle), std::sin(angle)};
  const Place place{center.x + kRadius * direction.x, center.y + kRadius * direction.y};
  const std::string_view color = neighbor.effect >= 0 ? kFor : kAgainst;
  drawing.begin_hint(hint(neighbor));
  drawing.line(
      center, place,
      {.color = color, .width = 1 + 9 * std::abs(neighbor.effect) / largest, .opacity = 0.65});
  drawing.circle(place, 15, "white", svg::Stroke{.color = color, .width = 2});
  const Place text{center.x + (kRadius + 24) * direction.x,
                   center.y + (kRadius + 30) * direction.y + 4};
  const auto anchor = direction.x > 0.2    ? svg::Anchor::kStart
                      : direction.x < -0.2 ? svg::Anchor::kEnd
                                           : svg::Anchor::kMiddle;
  drawing.write({text.x, text.y - 6}, neighbor.name,
                {.size = 12, .anchor = anchor, .room = kNameRoom});
  drawing.write(
      {text.x, text.y + 8},
      fmt::format("{} · gate {}", signed_number(neighbor.effect), fixed(neighbor.gate, 2)),
      {.size = 10, .color = svg::kSoft, .anchor = anchor});
  drawing.end_hint();
}

// One layer: the node in the center, its neighbors on a circle, clockwise from the top by effect.
void draw_layer(svg::Drawing& drawing, const std::string& node, const LayerExplanation& layer,
                double score, double left) {
  const Place center{left + kWidth / 2, 290};
  // Lines are thick only if effects are large compared with the score.
  constexpr double kThick = 0.1;
  double largest = std::max(1e-12, kThick * std::abs(score));
  for (const auto& neighbor : layer.neighbors) {
    largest = std::max(largest, std::abs(neighbor.effect));
  }
  drawing.write(
      {center.x, 72},
      fmt::format("layer {}: {} of {} links", layer.layer, layer.neighbors.size(), layer.links),
      {.size = 13, .anchor = svg::Anchor::kMiddle, .bold = true});
  const auto count = static_cast<double>(layer.neighbors.size());
  for (size_t i = 0; i < layer.neighbors.size(); ++i) {
    const double turn = static_cast<double>(i) / count - 0.25;
    draw_neighbor(drawing, layer.neighbors[i], center, 2 * std::numbers::pi * turn, largest);
  }
  drawing.circle(center, 26, "#f5c542", svg::Stroke{.color = "#7a5c00"});
  drawing.write({center.x, center.y + 4}, node,
                {.size = 12, .anchor = svg::Anchor::kMiddle, .room = 50});
}

// The effects of the node's features, and of its links in every layer.
std::string effects_text(const Explanation& explanation, const Target& target) {
  std::string text;
  if (explanation.own) text += own_text(explanation, target);
  for (const auto& layer : explanation.layers) {
    text += fmt::format(
        "\nlayer {}: {} links; the {} with the largest effect on the {} when removed\n",
        layer.layer, grouped(layer.links), layer.neighbors.size(), score_name(explanation, target));
    text += method(layer);
    for (const auto& neighbor : layer.neighbors) {
      text += fmt::format("  {:<20} effect {}  gate {}\n", neighbor.name,
                          relative(neighbor.effect, explanation), number(neighbor.gate));
      for (const auto& attribute : neighbor.attributes) {
        text += fmt::format("      {:<24} = {}  {}\n", attribute.name, number(attribute.value),
                            attribute_effect(attribute));
      }
    }
  }
  return text;
}

// Inputs of the decoder.
std::string inputs_text(const std::string& name, const InputEffects& effects) {
  if (effects.top.empty() && effects.all == 0) return "";
  std::string text = fmt::format("\n{}: effect {}\n", name, signed_number(effects.all));
  for (const auto& input : effects.top) {
    text += fmt::format("      {:<28} = {}  effect {}\n", input.name, number(input.value),
                        signed_number(input.effect));
  }
  return text;
}

std::string link_name(const LinkExplanation& link) {
  std::string text = fmt::format("link {} → {}", link.source.node, link.target.node);
  if (!link.relation.empty()) text += fmt::format(" ({})", link.relation);
  if (link.row >= 0) text += fmt::format(", row {}", link.row);
  return text;
}

json features_json(const std::vector<FeatureEffect>& effects) {
  json all = json::array();
  for (const auto& effect : effects) {
    all.push_back({{"name", effect.name}, {"value", effect.value}, {"effect", effect.effect}});
  }
  return all;
}

// An effect as a bar to the right or left of a middle line.
void draw_bar(svg::Drawing& drawing, const std::string& name, double effect, double largest,
              Place middle) {
  constexpr double kBar = 220;  // largest length
  const double length = kBar * effect / std::max(1e-12, largest);
  const std::string_view color = effect >= 0 ? kFor : kAgainst;
  drawing.write({middle.x - kBar - 12, middle.y + 4}, name,
                {.size = 11, .anchor = svg::Anchor::kEnd, .room = middle.x - kBar - 32});
  drawing.line(middle, {middle.x + length, middle.y},
               {.color = color, .width = 11, .opacity = 0.65});
  drawing.write({middle.x + std::max(0.0, length) + 8, middle.y + 4}, signed_number(effect),
                {.size = 10, .color = svg::kSoft});
}

struct Bar {
  std::string name;
  double effect = 0;
};

// The inputs of the decoder, and both ends.
std::vector<Bar> bars_of(const LinkExplanation& link) {
  std::vector<Bar> bars;
  for (const auto* inputs : {&link.attributes, &link.statistics}) {
    for (const auto& input : inputs->top) {
      bars.push_back({fmt::format("{} = {}", input.name, number(input.value)), input.effect});
    }
  }
  for (const auto* end : {&link.source, &link.target}) {
    if (!end->own) continue;
    bars.push_back({fmt::format("features of {}", end->node), end->own->features});
    bars.push_back({fmt::format("links of {}", end->node), end->own->links});
  }
  return bars;
}

}  // namespace

std::string explanation_text(const Explanation& explanation, std::optional<double> target) {
  return headline("node " + explanation.node, explanation, target) + "\n" +
         legend(explanation, target, explanation.node) + "\n" + effects_text(explanation, target);
}

std::string explanation_text(const LinkExplanation& link, std::optional<double> target) {
  std::string text = headline(link_name(link), link.source, target) + "\n" +
                     legend(link.source, target, "the source or target") + "\n";
  text += inputs_text("attributes of the link", link.attributes);
  text += inputs_text("degrees and common neighbors of both nodes", link.statistics);
  for (const auto* end : {&link.source, &link.target}) {
    text += fmt::format("\n{} {}, with the embedding of {} fixed\n",
                        end == &link.source ? "source" : "target", end->node,
                        end == &link.source ? link.target.node : link.source.node);
    text += effects_text(*end, target);
  }
  return text;
}

json explanation_json(const Explanation& explanation) {
  json layers = json::array();
  for (const auto& layer : explanation.layers) {
    json neighbors = json::array();
    for (const auto& neighbor : layer.neighbors) {
      json attributes = json::array();
      for (const auto& attribute : neighbor.attributes) {
        attributes.push_back({{"name", attribute.name},
                              {"value", attribute.value},
                              {"amplifier_fraction", attribute.amplifier_fraction},
                              {"effect", attribute.effect}});
      }
      neighbors.push_back({{"node", neighbor.name},
                           {"gate", neighbor.gate},
                           {"effect", neighbor.effect},
                           {"attributes", attributes}});
    }
    layers.push_back({{"layer", layer.layer},
                      {"links", layer.links},
                      {"exact_links", layer.exact_links},
                      {"attributes_exact", layer.attributes_exact},
                      {"neighbors", neighbors}});
  }
  json all = {{"node", explanation.node},
              {"output", explanation.output},
              {"score", explanation.score},
              {"probability", explanation.probability},
              {"layers", layers}};
  if (explanation.own) {
    all["own"] = {{"bias", explanation.own->bias},
                  {"features_effect", explanation.own->features},
                  {"links_effect", explanation.own->links},
                  {"features", features_json(explanation.own->top)}};
  }
  return all;
}

json explanation_json(const LinkExplanation& link) {
  const auto inputs = [](const InputEffects& effects) -> json {
    return {{"effect", effects.all}, {"inputs", features_json(effects.top)}};
  };
  const auto end = [](const Explanation& explanation) {
    json all = explanation_json(explanation);
    for (const char* key : {"output", "score", "probability"}) all.erase(key);
    return all;
  };
  json all = {{"source", link.source.node},
              {"target", link.target.node},
              {"output", link.source.output},
              {"score", link.source.score},
              {"probability", link.source.probability},
              {"attributes", inputs(link.attributes)},
              {"statistics", inputs(link.statistics)},
              {"ends", {{"source", end(link.source)}, {"target", end(link.target)}}}};
  if (link.row >= 0) all["row"] = link.row;
  if (!link.relation.empty()) all["relation"] = link.relation;
  return all;
}

std::string explanation_svg(const Explanation& explanation, std::optional<double> target) {
  const double width = kWidth * static_cast<double>(std::max<size_t>(1, explanation.layers.size()));
  const std::string title = headline("node " + explanation.node, explanation, target);
  svg::Drawing drawing;
  drawing.write({20, 32}, title, {.size = 17, .bold = true, .room = width - 40});
  drawing.write(
      {20, 50},
      "line width: effect of removing the link; blue supports the prediction, red opposes it",
      {.size = 10, .color = svg::kSoft});
  for (size_t i = 0; i < explanation.layers.size(); ++i) {
    draw_layer(drawing, explanation.node, explanation.layers[i], explanation.score,
               kWidth * static_cast<double>(i));
  }
  return svg::document(width, kHeight, title, drawing.text());
}

std::string explanation_svg(const LinkExplanation& link, std::optional<double> target) {
  const size_t layers = std::max<size_t>(1, link.source.layers.size());
  const double width = std::max(2.0, static_cast<double>(layers)) * kWidth;
  constexpr double kTop = 84;
  constexpr double kStep = 18;
  const std::string title = headline(link_name(link), link.source, target);
  svg::Drawing drawing;
  drawing.write({20, 32}, title, {.size = 17, .bold = true, .room = width - 40});
  drawing.write({20, 50},
                "bars and line widths: effect of an input, or of removing a link, with the "
                "embedding of the other end fixed; blue supports the prediction, red opposes it",
                {.size = 10, .color = svg::kSoft});
  const std::vector<Bar> bars = bars_of(link);
  double largest = 0;
  for (const Bar& bar : bars) largest = std::max(largest, std::abs(bar.effect));
  Place middle{width / 2, kTop};
  for (const Bar& bar : bars) {
    draw_bar(drawing, bar.name, bar.effect, largest, middle);
    middle.y += kStep;
  }
  double top = middle.y - 30;
  for (const auto* end : {&link.source, &link.target}) {
    svg::Drawing panels;
    for (size_t l = 0; l < end->layers.size(); ++l) {
      draw_layer(panels, end->node, end->layers[l], end->score, kWidth * static_cast<double>(l));
    }
    panels.write({20, 72},
                 fmt::format("{} {}", end == &link.source ? "source" : "target", end->node),
                 {.size = 13, .bold = true, .room = 160});
    drawing.insert({0, top}, panels.text());
    top += kHeight - 30;
  }
  return svg::document(width, top + 30, title, drawing.text());
}

}  // namespace lase
