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

// Classification explains a logit, regression a standardized target.
const char* score_name(const Target& target) { return target ? "standardized target" : "logit"; }

std::string headline(const Explanation& explanation, const Target& target) {
  const std::string score = number(explanation.score);
  if (target) {
    return fmt::format("node {}: {} {} (standardized {})", explanation.node, explanation.output,
                       significant(*target, 3), score);
  }
  const bool other = !explanation.predicted.empty() && explanation.predicted != explanation.output;
  return fmt::format("node {}: {}{}, probability {}, logit {}", explanation.node,
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
                      score_name(target), number(own.bias));
  return text;
}

std::string legend(const Explanation& explanation, const Target& target) {
  std::string text = fmt::format(
      "effect: change of the {0} due to the feature, link or attribute, and in parentheses its "
      "size relative to the difference between the {0} and the bias; effects need not add up; "
      "gate: "
      "λ(u,v); share: part of Σ|U f(e)| due to the attribute",
      score_name(target));
  for (const auto& layer : explanation.layers) {
    for (const auto& neighbor : layer.neighbors) {
      for (const auto& attribute : neighbor.attributes) {
        if (!attribute.name.starts_with("out ") && !attribute.name.starts_with("in ")) continue;
        return text + "; out/in: sent/received by " + explanation.node;
      }
    }
  }
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

}  // namespace

std::string explanation_text(const Explanation& explanation, std::optional<double> target) {
  std::string text = headline(explanation, target) + "\n" + legend(explanation, target) + "\n";
  if (explanation.own) text += own_text(explanation, target);
  for (const auto& layer : explanation.layers) {
    text +=
        fmt::format("\nlayer {}: {} links; the {} with the largest effect on the {} when removed\n",
                    layer.layer, grouped(layer.links), layer.neighbors.size(), score_name(target));
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
    json features = json::array();
    for (const auto& feature : explanation.own->top) {
      features.push_back(
          {{"name", feature.name}, {"value", feature.value}, {"effect", feature.effect}});
    }
    all["own"] = {{"bias", explanation.own->bias},
                  {"features_effect", explanation.own->features},
                  {"links_effect", explanation.own->links},
                  {"features", features}};
  }
  return all;
}

std::string explanation_svg(const Explanation& explanation, std::optional<double> target) {
  const double width = kWidth * static_cast<double>(std::max<size_t>(1, explanation.layers.size()));
  const std::string title = headline(explanation, target);
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

}  // namespace lase
