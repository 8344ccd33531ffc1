#include <algorithm>

#include "report/line_frame.h"

namespace lase::parts {
namespace {

constexpr double kNameRow = 13;  // row height
constexpr double kLeader = 13;   // width of the leader from the plot to the line sample
constexpr double kSample = 13;
constexpr double kNameGap = 4;  // between the sample and the name

// A name to the right of the plot, and the end of its line.
struct EndName {
  LegendEntry entry;
  svg::Place end;
  double y = 0;  // vertical center of the text
};

std::vector<EndName> end_names(const LineChart& chart, const Frame& frame) {
  std::vector<EndName> names;
  for (const Series& one : styled(chart.series)) {
    for (size_t i = one.y.size(); i-- > 0 && !one.name.empty();) {
      if (!has_point(chart, one, i) || !frame.x.holds(x_of(one, i))) continue;
      const double y = frame.y.at(std::clamp(one.y[i], frame.y.low, frame.y.high));
      names.push_back({.entry = {.name = one.name, .color = one.color, .dashed = one.dashed},
                       .end = {frame.x.at(x_of(one, i)), y}});
      break;
    }
  }
  for (const Reference& one : chart.references) {
    if (one.name.empty() || !frame.y.holds(one.value)) continue;
    names.push_back({.entry = {.name = one.name, .mark = Mark::kReference},
                     .end = {frame.x.to, frame.y.at(one.value)}});
  }
  return names;
}

// Moves names as close to the ends of their lines as possible without overlap: adjacent names that
// would overlap form a group centered on the mean of their preferred positions.
void spread(std::vector<EndName>& names, double top, double bottom) {
  std::stable_sort(names.begin(), names.end(),
                   [](const EndName& a, const EndName& b) { return a.end.y < b.end.y; });
  struct Group {
    double sum = 0;  // of the group start that each name would prefer
    double count = 0;
    double first() const { return sum / count; }
  };
  std::vector<Group> groups;
  for (const EndName& name : names) {
    groups.push_back({.sum = name.end.y, .count = 1});
    for (size_t last = groups.size() - 1;
         last > 0 &&
         groups[last - 1].first() + kNameRow * groups[last - 1].count > groups[last].first();
         --last) {
      Group& previous = groups[last - 1];
      previous.sum += groups[last].sum - kNameRow * previous.count * groups[last].count;
      previous.count += groups[last].count;
      groups.pop_back();
    }
  }
  size_t at = 0;
  for (const Group& group : groups) {
    for (double i = 0; i < group.count; ++i) names[at++].y = group.first() + kNameRow * i;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    names[i].y = std::max(names[i].y, top + kNameRow * static_cast<double>(i));
  }
  for (size_t i = names.size(); i-- > 0;) {
    const auto below = static_cast<double>(names.size() - 1 - i);
    names[i].y = std::min(names[i].y, bottom - kNameRow * below);
  }
}

double widest_name(const LineChart& chart) {
  double width = 0;
  for (const LegendEntry& entry : legend_of(chart)) {
    width = std::max(width, svg::text_width(entry.name, kTickSize));
  }
  return width;
}

// Connects the end of the line with the sample next to the name; a line that ends early is extended
// to the edge of the plot by dots.
void draw_leader(svg::Drawing& drawing, const EndName& name, const Frame& frame) {
  if (name.entry.mark == Mark::kReference && name.y == name.end.y) return;
  const bool reference = name.entry.mark == Mark::kReference;
  const svg::Stroke stroke{.color = reference ? svg::kSoft : std::string_view(name.entry.color),
                           .opacity = 0.7};
  const double edge = frame.x.to;
  const bool early = name.end.x < edge - 0.05 * frame.width();
  const double start = early ? edge : std::min(edge, name.end.x + 4);
  if (early) {
    svg::Stroke dotted = stroke;
    dotted.dashes = "1 3";
    drawing.line({name.end.x + 4, name.end.y}, {edge, name.end.y}, dotted);
  }
  drawing.polyline({{start, name.end.y}, {edge + 2, name.end.y}, {edge + kLeader, name.y}}, stroke);
}

}  // namespace

bool end_names_fit(const LineChart& chart, double height) {
  return static_cast<double>(legend_of(chart).size()) * kNameRow <= height &&
         widest_name(chart) <= 0.4 * chart.width;
}

double end_names_width(const LineChart& chart) {
  return kLeader + kSample + kNameGap + widest_name(chart) + 2;
}

void draw_end_names(svg::Drawing& drawing, const LineChart& chart, const Frame& frame) {
  std::vector<EndName> names = end_names(chart, frame);
  spread(names, frame.y.to, frame.y.from);
  const double sample = frame.x.to + kLeader;
  for (const EndName& name : names) {
    draw_leader(drawing, name, frame);
    draw_mark(drawing, name.entry, {sample + kSample / 2, name.y}, kSample);
    const bool reference = name.entry.mark == Mark::kReference;
    drawing.write({sample + kSample + kNameGap, name.y + kMiddle * kTickSize}, name.entry.name,
                  {.size = kTickSize, .color = reference ? svg::kSoft : svg::kInk});
  }
}

}  // namespace lase::parts
