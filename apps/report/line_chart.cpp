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

constexpr double kTickRow = 19;  // heights below the axis
constexpr double kLabelRow = 16;
constexpr double kKeyGap = 6;
constexpr double kAngle = 35;    // of tick texts that have no room side by side
constexpr double kTilted = 120;  // room for these

void check(const LineChart& chart) {
  for (const Series& one : chart.series) {
    require(one.x.empty() || one.x.size() == one.y.size(), "a chart: series ", quote(one.name),
            " has ", one.x.size(), " x values and ", one.y.size(), " y values");
    require(one.error.empty() || one.error.size() == one.y.size(), "a chart: series ",
            quote(one.name), " has ", one.error.size(), " errors for ", one.y.size(), " values");
  }
  for (const auto& range : {chart.x_range, chart.y_range}) {
    require(!range || (is_shown(range->low) && is_shown(range->high) && range->low < range->high),
            "a chart: its range is from ", range ? range->low : 0, " to ", range ? range->high : 0);
  }
  require(!chart.x_log || !chart.x_range || chart.x_range->low > 0,
          "a chart: a logarithmic axis cannot start at ", chart.x_range ? chart.x_range->low : 0);
}

bool has_whiskers(const LineChart& chart, const Series& series) {
  return chart.errors == ErrorStyle::kWhiskers ||
         (chart.errors == ErrorStyle::kAutomatic && has_few_points(series));
}

Heading title_of(const LineChart& chart) {
  return {.size = 12, .bold = true, .width = chart.width};
}
Heading y_label_of(const LineChart& chart) {
  return {.size = kTickSize, .colour = svg::kSoft, .width = chart.width};
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
    drawing.line({frame.x.from, y}, {frame.x.to, y}, {.colour = svg::kGrid});
    drawing.write({frame.x.from - 7, y + kMiddle * kTickSize}, tick.text,
                  {.size = kTickSize, .colour = svg::kSoft, .anchor = Anchor::kEnd});
  }
  const double bottom = frame.y.from;
  drawing.line({frame.x.from, bottom}, {frame.x.to, bottom}, {.colour = "#98A1AE"});
  for (const Tick& tick : frame.x_ticks) {
    const double x = frame.x.at(tick.value);
    drawing.line({x, bottom}, {x, bottom + 4}, {.colour = "#98A1AE"});
    if (tilted) {
      drawing.write({x + 3, bottom + 14}, tick.text,
                    {.size = kTickSize,
                     .colour = svg::kSoft,
                     .anchor = Anchor::kEnd,
                     .angle = -kAngle,
                     .room = kTilted});
    } else {
      drawing.write({x, bottom + 16}, tick.text,
                    {.size = kTickSize, .colour = svg::kSoft, .anchor = Anchor::kMiddle});
    }
  }
  const double below = bottom + bottom_of(chart, tilted) - 4;
  drawing.write({(frame.x.from + frame.x.to) / 2, below}, chart.x_label,
                {.size = kTickSize,
                 .colour = svg::kSoft,
                 .anchor = Anchor::kMiddle,
                 .room = frame.x.to - frame.x.from});
}

// Calls use(first, last) for the longest stretches [first, last) where `present` holds.
template <class Present, class Use>
void for_each_stretch(size_t n, const Present& present, const Use& use) {
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
  for_each_stretch(series.y.size(), present, [&](size_t first, size_t last) {
    std::vector<Place> around;
    for (size_t i = first; i < last; ++i) {
      around.push_back(at(i, 1));
      if (!has_whiskers(chart, series)) continue;
      const svg::Stroke stroke{.colour = series.colour, .width = 1.2};
      drawing.line(at(i, 1), at(i, -1), stroke);
      for (const double sign : {-1., 1.}) {
        const Place end = at(i, sign);
        drawing.line({end.x - 2.5, end.y}, {end.x + 2.5, end.y}, stroke);
      }
    }
    for (size_t i = last; i-- > first;) around.push_back(at(i, -1));
    if (!has_whiskers(chart, series)) drawing.area(around, series.colour, 0.2);
  });
}

void draw_line(Drawing& drawing, const LineChart& chart, const Series& series, const Frame& frame) {
  const auto present = [&](size_t i) { return has_point(chart, series, i); };
  for_each_stretch(series.y.size(), present, [&](size_t first, size_t last) {
    std::vector<Place> places;
    for (size_t i = first; i < last; ++i) {
      places.push_back({frame.x.at(x_of(series, i)), frame.y.at(series.y[i])});
    }
    if (places.size() > 1) {
      drawing.polyline(
          places, {.colour = series.colour, .width = 1.5, .dashes = series.dashed ? "5 3" : ""});
    }
    // A point between gaps is no line.
    if (places.size() > 1 && !has_few_points(series)) return;
    for (const Place& place : places) drawing.circle(place, 2.8, series.colour);
  });
}

}  // namespace

std::vector<Series> styled(const std::vector<Series>& series) {
  std::vector<Series> result = series;
  for (size_t i = 0; i < result.size(); ++i) {
    if (!result[i].colour.empty()) continue;
    result[i].colour = svg::kPalette[i % svg::kPalette.size()];
    if (i >= svg::kPalette.size()) result[i].dashed = true;
  }
  return result;
}

std::vector<KeyEntry> key_of(const LineChart& chart) {
  std::vector<KeyEntry> key;
  for (const Series& one : styled(chart.series)) {
    bool any = false;
    for (size_t i = 0; i < one.y.size(); ++i) any = any || has_point(chart, one, i);
    if (any && !one.name.empty()) {
      key.push_back({.name = one.name, .colour = one.colour, .dashed = one.dashed});
    }
  }
  for (const Reference& one : chart.references) {
    if (!one.name.empty() && is_shown(one.value)) {
      key.push_back({.name = one.name, .mark = Mark::kReference});
    }
  }
  return key;
}

Margins margins_of(const LineChart& chart) {
  check(chart);
  Margins margins{.left = 40, .right = 14, .top = top_of(chart)};
  const double least = bottom_of(chart, false);
  const auto key = key_of(chart);
  if (chart.key != KeyPlace::kNone && !key.empty()) {
    const bool fit = end_names_fit(chart, chart.height - margins.top - least);
    margins.key = fit && chart.key != KeyPlace::kBelow ? KeyPlace::kLineEnds : KeyPlace::kBelow;
  }
  if (margins.key == KeyPlace::kLineEnds) margins.right = end_names_width(chart);
  margins.tilted = !chart.x_ticks.empty() && Frame(chart, margins).x_ticks_collide();
  margins.bottom = bottom_of(chart, margins.tilted);
  if (margins.key == KeyPlace::kBelow) margins.bottom += kKeyGap + key_height(key, chart.width);

  const Frame frame(chart, margins);
  margins.left = 0;
  for (const Tick& tick : frame.y_ticks) {
    margins.left = std::max(margins.left, svg::text_width(tick.text, kTickSize) + 8);
  }
  if (frame.x_ticks.empty()) return margins;
  const double first = svg::text_width(frame.x_ticks.front().text, kTickSize);
  const double last = svg::text_width(frame.x_ticks.back().text, kTickSize);
  // A tilted text ends below its tick and begins at the left of it.
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
    drawing.line({frame.x.from, y}, {frame.x.to, y}, {.colour = svg::kSoft, .dashes = "2 3"});
  }
  // Whole marks where everything is in range, and no line beyond the axis where it is not.
  const double more = chart.x_range || chart.y_range ? 0.8 : 4;
  drawing.begin_window({frame.x.from - more, frame.y.to - more}, frame.width() + 2 * more,
                       frame.height() + 2 * more);
  const std::vector<Series> series = styled(chart.series);
  for (const Series& one : series) draw_errors(drawing, chart, one, frame);
  for (const Series& one : series) draw_line(drawing, chart, one, frame);
  drawing.end_window();
  if (margins.key == KeyPlace::kLineEnds) draw_end_names(drawing, chart, frame);
  if (margins.key == KeyPlace::kBelow) {
    const double y = frame.y.from + bottom_of(chart, margins.tilted) + kKeyGap;
    draw_key(drawing, key_of(chart), {0, y}, chart.width);
  }
  return {.content = drawing.text(),
          .width = frame.x.to + margins.right,
          .height = frame.y.from + margins.bottom};
}

}  // namespace lase::parts
