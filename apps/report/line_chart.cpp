#include <algorithm>
#include <cmath>

#include "lase/base/error.h"

#include "report/line_frame.h"

namespace lase::parts {
namespace {

using svg::Anchor;
using svg::Drawing;
using svg::Place;
using svg::Tick;

constexpr double kTickRow = 19;  // row heights below the axis
constexpr double kLabelRow = 16;
constexpr double kLegendGap = 6;
constexpr double kAngle = 35;    // degrees, of tick labels that do not fit side by side
constexpr double kTilted = 120;  // maximum length of tilted labels

void check(const LineChart& chart) {
  for (const Series& one : chart.series) {
    require(one.x.empty() || one.x.size() == one.y.size(), "line chart: series ", quote(one.name),
            " has ", one.x.size(), " x values and ", one.y.size(),
            " y values, expected equal numbers");
    require(one.error.empty() || one.error.size() == one.y.size(), "line chart: series ",
            quote(one.name), " has ", one.error.size(), " errors for ", one.y.size(),
            " values, expected equal numbers");
  }
  for (const auto& range : {chart.x_range, chart.y_range}) {
    require(!range || (is_shown(range->low) && is_shown(range->high) && range->low < range->high),
            "line chart: the axis range is ", range ? range->low : 0, " to ",
            range ? range->high : 0, ", expected finite bounds, lower first");
  }
  require(!chart.x_log || !chart.x_range || chart.x_range->low > 0,
          "line chart: a logarithmic axis cannot start at ", chart.x_range ? chart.x_range->low : 0,
          ", expected a positive number");
}

bool has_whiskers(const LineChart& chart, const Series& series) {
  return chart.errors == ErrorStyle::kWhiskers ||
         (chart.errors == ErrorStyle::kAutomatic && has_few_points(series));
}

Heading title_of(const LineChart& chart) {
  return {.size = 12, .bold = true, .width = chart.width};
}
Heading y_label_of(const LineChart& chart) {
  return {.size = kTickSize, .color = svg::kSoft, .width = chart.width};
}

double top_of(const LineChart& chart) {
  const double heading =
      title_of(chart).height(chart.title) + y_label_of(chart).height(chart.y_label);
  return heading > 0 ? heading + 8 : 6;
}

double bottom_of(const LineChart& chart, bool tilted) {
  double bottom = kTickRow + (chart.x_label.empty() ? 0 : kLabelRow);
  if (tilted) {
    double longest = 0;
    for (const Tick& tick : chart.x_ticks) {
      longest = std::max(longest, svg::text_width(tick.text, kTickSize));
    }
    bottom += std::min(longest, kTilted) * std::sin(kAngle * 3.14159265 / 180);
  }
  return bottom;
}

void draw_axes(Drawing& drawing, const LineChart& chart, const Frame& frame, bool tilted) {
  for (const Tick& tick : frame.y_ticks) {
    const double y = frame.y.at(tick.value);
    drawing.line({frame.x.from, y}, {frame.x.to, y}, {.color = svg::kGrid});
    drawing.write({frame.x.from - 7, y + kMiddle * kTickSize}, tick.text,
                  {.size = kTickSize, .color = svg::kSoft, .anchor = Anchor::kEnd});
  }
  const double bottom = frame.y.from;
  drawing.line({frame.x.from, bottom}, {frame.x.to, bottom}, {.color = "#98A1AE"});
  for (const Tick& tick : frame.x_ticks) {
    const double x = frame.x.at(tick.value);
    drawing.line({x, bottom}, {x, bottom + 4}, {.color = "#98A1AE"});
    if (tilted) {
      drawing.write({x + 3, bottom + 14}, tick.text,
                    {.size = kTickSize,
                     .color = svg::kSoft,
                     .anchor = Anchor::kEnd,
                     .angle = -kAngle,
                     .room = kTilted});
    } else {
      drawing.write({x, bottom + 16}, tick.text,
                    {.size = kTickSize, .color = svg::kSoft, .anchor = Anchor::kMiddle});
    }
  }
  const double below = bottom + bottom_of(chart, tilted) - 4;
  drawing.write({(frame.x.from + frame.x.to) / 2, below}, chart.x_label,
                {.size = kTickSize,
                 .color = svg::kSoft,
                 .anchor = Anchor::kMiddle,
                 .room = frame.x.to - frame.x.from});
}

// Calls use(first, last) for each maximal segment [first, last) on which `present` holds.
template <class Present, class Use>
void for_each_segment(size_t n, const Present& present, const Use& use) {
  for (size_t first = 0; first < n; ++first) {
    if (!present(first)) continue;
    size_t last = first;
    while (last < n && present(last)) ++last;
    use(first, last);
    first = last;
  }
}

void draw_errors(Drawing& drawing, const LineChart& chart, const Series& series,
                 const Frame& frame) {
  const auto at = [&](size_t i, double sign) {
    return Place{frame.x.at(x_of(series, i)), frame.y.at(series.y[i] + sign * series.error[i])};
  };
  const auto present = [&](size_t i) {
    return has_point(chart, series, i) && has_error(series, i);
  };
  for_each_segment(series.y.size(), present, [&](size_t first, size_t last) {
    std::vector<Place> around;
    for (size_t i = first; i < last; ++i) {
      around.push_back(at(i, 1));
      if (!has_whiskers(chart, series)) continue;
      const svg::Stroke stroke{.color = series.color, .width = 1.2};
      drawing.line(at(i, 1), at(i, -1), stroke);
      for (const double sign : {-1., 1.}) {
        const Place end = at(i, sign);
        drawing.line({end.x - 2.5, end.y}, {end.x + 2.5, end.y}, stroke);
      }
    }
    for (size_t i = last; i-- > first;) around.push_back(at(i, -1));
    if (!has_whiskers(chart, series)) drawing.area(around, series.color, 0.2);
  });
}

void draw_line(Drawing& drawing, const LineChart& chart, const Series& series, const Frame& frame) {
  const auto present = [&](size_t i) { return has_point(chart, series, i); };
  for_each_segment(series.y.size(), present, [&](size_t first, size_t last) {
    std::vector<Place> places;
    for (size_t i = first; i < last; ++i) {
      places.push_back({frame.x.at(x_of(series, i)), frame.y.at(series.y[i])});
    }
    if (places.size() > 1) {
      drawing.polyline(places,
                       {.color = series.color, .width = 1.5, .dashes = series.dashed ? "5 3" : ""});
    }
    // A single point between gaps is not visible as a line, so it gets a marker.
    if (places.size() > 1 && !has_few_points(series)) return;
    for (const Place& place : places) drawing.circle(place, 2.8, series.color);
  });
}

}  // namespace

std::vector<Series> styled(const std::vector<Series>& series) {
  std::vector<Series> result = series;
  for (size_t i = 0; i < result.size(); ++i) {
    if (!result[i].color.empty()) continue;
    result[i].color = svg::kPalette[i % svg::kPalette.size()];
    if (i >= svg::kPalette.size()) result[i].dashed = true;
  }
  return result;
}

std::vector<LegendEntry> legend_of(const LineChart& chart) {
  std::vector<LegendEntry> legend;
  for (const Series& one : styled(chart.series)) {
    bool any = false;
    for (size_t i = 0; i < one.y.size(); ++i) any = any || has_point(chart, one, i);
    if (any && !one.name.empty()) {
      legend.push_back({.name = one.name, .color = one.color, .dashed = one.dashed});
    }
  }
  for (const Reference& one : chart.references) {
    if (!one.name.empty() && is_shown(one.value)) {
      legend.push_back({.name = one.name, .mark = Mark::kReference});
    }
  }
  return legend;
}

Margins margins_of(const LineChart& chart) {
  check(chart);
  Margins margins{.left = 40, .right = 14, .top = top_of(chart)};
  const double least = bottom_of(chart, false);
  const auto legend = legend_of(chart);
  if (chart.legend != LegendPlace::kNone && !legend.empty()) {
    const bool fit = end_names_fit(chart, chart.height - margins.top - least);
    margins.legend =
        fit && chart.legend != LegendPlace::kBelow ? LegendPlace::kLineEnds : LegendPlace::kBelow;
  }
  if (margins.legend == LegendPlace::kLineEnds) margins.right = end_names_width(chart);
  margins.tilted = !chart.x_ticks.empty() && Frame(chart, margins).x_ticks_collide();
  margins.bottom = bottom_of(chart, margins.tilted);
  if (margins.legend == LegendPlace::kBelow)
    margins.bottom += kLegendGap + legend_height(legend, chart.width);

  const Frame frame(chart, margins);
  margins.left = 0;
  for (const Tick& tick : frame.y_ticks) {
    margins.left = std::max(margins.left, svg::text_width(tick.text, kTickSize) + 8);
  }
  if (frame.x_ticks.empty()) return margins;
  const double first = svg::text_width(frame.x_ticks.front().text, kTickSize);
  const double last = svg::text_width(frame.x_ticks.back().text, kTickSize);
  // A tilted label ends below its tick and starts to the left of it.
  const double before = margins.tilted ? std::min(first, kTilted) * 0.85 : first / 2;
  const double inset = frame.x.at(frame.x_ticks.front().value) - frame.x.from;
  margins.left = std::max(margins.left, before - inset);
  if (!margins.tilted) margins.right = std::max(margins.right, last / 2);
  return margins;
}

Fragment draw(const LineChart& chart, const Margins& margins) {
  const Frame frame(chart, margins);
  Drawing drawing;
  y_label_of(chart).draw(drawing, chart.y_label, title_of(chart).draw(drawing, chart.title, 0));
  draw_axes(drawing, chart, frame, margins.tilted);
  for (const Reference& one : chart.references) {
    if (!is_shown(one.value) || !frame.y.holds(one.value)) continue;
    const double y = frame.y.at(one.value);
    drawing.line({frame.x.from, y}, {frame.x.to, y}, {.color = svg::kSoft, .dashes = "2 3"});
  }
  // Without explicit ranges everything fits, so leave space for whole markers; otherwise clip lines
  // at the axes.
  const double more = chart.x_range || chart.y_range ? 0.8 : 4;
  drawing.begin_window({frame.x.from - more, frame.y.to - more}, frame.width() + 2 * more,
                       frame.height() + 2 * more);
  const std::vector<Series> series = styled(chart.series);
  for (const Series& one : series) draw_errors(drawing, chart, one, frame);
  for (const Series& one : series) draw_line(drawing, chart, one, frame);
  drawing.end_window();
  if (margins.legend == LegendPlace::kLineEnds) draw_end_names(drawing, chart, frame);
  if (margins.legend == LegendPlace::kBelow) {
    const double y = frame.y.from + bottom_of(chart, margins.tilted) + kLegendGap;
    draw_legend(drawing, legend_of(chart), {0, y}, chart.width);
  }
  return {.content = drawing.text(),
          .width = frame.x.to + margins.right,
          .height = frame.y.from + margins.bottom};
}

}  // namespace lase::parts
