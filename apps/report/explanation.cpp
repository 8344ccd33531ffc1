#include "report/explanation.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "lase/base/error.h"

#include "report/markup.h"

namespace lase {
namespace {

using nlohmann::json;

std::string number(double value, int digits = 3) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

std::string signed_number(double value) {
  const std::string digits = number(std::abs(value));
  return std::string(value < 0 ? "−" : "+").append(digits);
}

std::string shortened(std::string text, size_t most) {
  if (text.size() <= most) return text;
  text.resize(most - 1);
  return text.append("…");
}

constexpr double kWidth = 600;  // of one layer's picture
constexpr double kHeight = 520;
constexpr double kRadius = 150;

// One layer: the node in the middle, its neighbours on a circle, clockwise from the top by effect.
void draw_layer(std::ostream& out, const Explanation& explanation, const LayerExplanation& layer,
                double left) {
  const double x0 = left + kWidth / 2;
  const double y0 = 290;
  double largest = 1e-12;
  for (const auto& neighbor : layer.neighbors) {
    largest = std::max(largest, std::abs(neighbor.effect));
  }
  out << "<text x='" << x0 << "' y='72' text-anchor='middle' class='head'>layer " << layer.layer
      << ": " << layer.neighbors.size() << " of " << layer.links << " links</text>\n";
  const auto count = static_cast<double>(layer.neighbors.size());
  for (size_t i = 0; i < layer.neighbors.size(); ++i) {
    const auto& neighbor = layer.neighbors[i];
    const double angle = 2 * 3.14159265 * static_cast<double>(i) / count - 1.5707963;
    const double x = x0 + kRadius * std::cos(angle);
    const double y = y0 + kRadius * std::sin(angle);
    const char* color = neighbor.effect >= 0 ? "#1f6fb4" : "#c0392b";
    out << "<line x1='" << x0 << "' y1='" << y0 << "' x2='" << x << "' y2='" << y << "' stroke='"
        << color << "' stroke-width='" << number(1 + 9 * std::abs(neighbor.effect) / largest, 1)
        << "' stroke-opacity='0.65'><title>" << escaped(neighbor.name) << ": effect "
        << signed_number(neighbor.effect) << ", gate " << number(neighbor.gate);
    for (const auto& attribute : neighbor.attributes) {
      out << "\n"
          << escaped(attribute.name) << " = " << number(attribute.value) << ": effect "
          << signed_number(attribute.effect) << ", " << number(100 * attribute.amplifier_share, 0)
          << "% of the amplifier";
    }
    out << "</title></line>\n<circle cx='" << x << "' cy='" << y << "' r='15' fill='white' stroke='"
        << color << "' stroke-width='2'/>\n";
    const double text_x = x0 + (kRadius + 24) * std::cos(angle);
    const double text_y = y0 + (kRadius + 30) * std::sin(angle) + 4;
    const char* anchor = std::cos(angle) > 0.2    ? "start"
                         : std::cos(angle) < -0.2 ? "end"
                                                  : "middle";
    out << "<text x='" << text_x << "' y='" << text_y - 6 << "' text-anchor='" << anchor << "'>"
        << escaped(shortened(neighbor.name, 14)) << "</text>\n<text x='" << text_x << "' y='"
        << text_y + 8 << "' text-anchor='" << anchor << "' class='small'>"
        << signed_number(neighbor.effect) << " · gate " << number(neighbor.gate, 2) << "</text>\n";
  }
  out << "<circle cx='" << x0 << "' cy='" << y0 << "' r='26' fill='#f5c542' stroke='#7a5c00'/>\n"
      << "<text x='" << x0 << "' y='" << y0 + 4 << "' text-anchor='middle'>"
      << escaped(shortened(explanation.node, 8)) << "</text>\n";
}

std::string headline(const Explanation& explanation) {
  return join("node ", explanation.node, ": ", explanation.output, ", score ",
              number(explanation.score), explanation.probability > 0 ? ", probability " : "",
              explanation.probability > 0 ? number(explanation.probability) : "");
}

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  std::ostringstream out;
  out << headline(explanation) << "\n";
  for (const auto& layer : explanation.layers) {
    out << "\nlayer " << layer.layer << ": " << layer.links << " links; left out one by one, the "
        << layer.neighbors.size() << " with the largest effect on the score\n";
    for (const auto& neighbor : layer.neighbors) {
      out << "  " << std::left << std::setw(20) << neighbor.name << " effect "
          << signed_number(neighbor.effect) << "  gate " << number(neighbor.gate) << "\n";
      for (const auto& attribute : neighbor.attributes) {
        out << "      " << std::left << std::setw(24) << attribute.name << " = "
            << number(attribute.value) << "  effect " << signed_number(attribute.effect) << ", "
            << number(100 * attribute.amplifier_share, 0) << "% of the amplifier\n";
      }
    }
  }
  return out.str();
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
                              {"amplifier_share", attribute.amplifier_share},
                              {"effect", attribute.effect}});
      }
      neighbors.push_back({{"node", neighbor.name},
                           {"gate", neighbor.gate},
                           {"effect", neighbor.effect},
                           {"attributes", attributes}});
    }
    layers.push_back({{"layer", layer.layer}, {"links", layer.links}, {"neighbors", neighbors}});
  }
  return {{"node", explanation.node},
          {"output", explanation.output},
          {"score", explanation.score},
          {"probability", explanation.probability},
          {"layers", layers}};
}

std::string explanation_svg(const Explanation& explanation) {
  std::ostringstream out;
  const double width = kWidth * static_cast<double>(std::max<size_t>(1, explanation.layers.size()));
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width << "' height='" << kHeight
      << "' viewBox='0 0 " << width << " " << kHeight << "'>\n<style>text{font:12px sans-serif;"
      << "fill:#222}.small{font-size:10px;fill:#666}.head{font-size:13px;font-weight:bold}"
      << ".title{font-size:17px;font-weight:bold}</style>\n<rect width='100%' height='100%' "
      << "fill='white'/>\n<text x='20' y='32' class='title'>" << escaped(headline(explanation))
      << "</text>\n<text x='20' y='50' class='small'>lines: effect of leaving the link out; blue "
      << "speaks for it, red against</text>\n";
  for (size_t i = 0; i < explanation.layers.size(); ++i) {
    draw_layer(out, explanation, explanation.layers[i], kWidth * static_cast<double>(i));
  }
  out << "</svg>\n";
  return out.str();
}

}  // namespace lase
