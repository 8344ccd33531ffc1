#include <algorithm>
#include <cmath>

#include "lase/base/error.h"

#include "report/parts.h"

namespace lase {
namespace {

using parts::is_shown;
using svg::Anchor;
using svg::Drawing;
using svg::Place;

constexpr double kName = 11.5;  // font sizes
constexpr double kNumber = 10.5;
constexpr double kMiddle = 0.36;  // from the middle of a text to its baseline, in font sizes
constexpr double kDot = 3.4;      // radius
constexpr double kRow = 22;
constexpr double kApart = 10;      // extra space above a separated row
constexpr double kGap = 26;        // between panels
constexpr double kNumberGap = 10;  // between a plot and its numbers
constexpr double kLeastPlot = 110;

bool any_has(const DotPlot& plot, double Score::*number) {
  for (const DotPanel& panel : plot.panels) {
    for (const Score& score : panel.scores) {
      if (is_shown(score.*number, plot.x_log)) return true;
    }
  }
  return false;
}

std::string score_text(const DotPlot& plot, const Score& score) {
  if (!is_shown(score.value)) return "–";
  std::string text = svg::fixed(score.value, plot.decimals);
  if (is_shown(score.error)) text += " ± " + svg::fixed(score.error, plot.decimals);
  return text;
}

void check(const DotPlot& plot) {
  for (const DotPanel& panel : plot.panels) {
    require(panel.scores.size() == plot.rows.size(), "dot plot: panel ", quote(panel.title),
            " has ", panel.scores.size(), " scores for ", plot.rows.size(),
            " rows, expected one score per row");
    require(!panel.x_range || panel.x_range->low < panel.x_range->high, "dot plot: panel ",
            quote(panel.title), " has an empty axis range");
  }
}

// Sizes that all panels share.
struct PlotLayout {
  double names = 0;    // width of the column of names
  double numbers = 0;  // width of the columns of numbers
  double plot = 0;     // width of the axes of a panel
  size_t columns = 1;
  std::vector<double> row = {};  // [rows], vertical centers, from the top of the axes
  double height = 0;             // of the axes

  explicit PlotLayout(const DotPlot& source) {
    for (const DotRow& one : source.rows) {
      names = std::max(names, svg::text_width(one.name, kName));
      height += one.apart && height > 0 ? kApart : 0;
      row.push_back(height + kRow / 2);
      height += kRow;
    }
    names = std::min(names, 0.35 * source.width);
    for (const DotPanel& panel : source.panels) {
      for (const Score& score : panel.scores) {
        numbers = std::max(numbers, svg::text_width(score_text(source, score), kNumber, true));
      }
    }
    const size_t count = std::max<size_t>(1, source.panels.size());
    columns = source.columns > 0 ? static_cast<size_t>(source.columns) : count;
    columns = std::min(columns, count);
    while (source.columns <= 0 && columns > 1 && width_of_plot(source) < kLeastPlot) --columns;
    // Balance: the fewest columns with the same number of lines.
    const size_t lines = (count + columns - 1) / columns;
    if (source.columns <= 0) columns = (count + lines - 1) / lines;
    plot = std::max(kLeastPlot, width_of_plot(source));
  }

  double left(size_t column) const {
    return names + 12 + static_cast<double>(column) * (plot + kNumberGap + numbers + kGap);
  }
  double width() const { return left(columns) - kGap; }

 private:
  double width_of_plot(const DotPlot& source) const {
    const auto c = static_cast<double>(columns);
    return (source.width - names - 12 - (c - 1) * kGap) / c - kNumberGap - numbers;
  }
};

svg::Axis axis_of(const DotPlot& plot, const DotPanel& panel, double from, double width) {
  parts::Extent extent(plot.x_log);
  for (const Score& score : panel.scores) {
    const double error = is_shown(score.error) ? score.error : 0;
    extent.add(score.value - error);
    extent.add(score.value + error);
    extent.add(score.value);
    extent.add(score.paper);
  }
  const Range range = panel.x_range.value_or(extent.padded(0.07));
  return {
      .low = range.low, .high = range.high, .from = from, .to = from + width, .log = plot.x_log};
}

// Whether a row has the best score after rounding, since ties in print should look like ties.
bool is_best(const DotPlot& plot, const DotPanel& panel, size_t row) {
  const double scale = std::pow(10.0, plot.decimals);
  const auto written = [&](double value) { return std::round(value * scale); };
  if (plot.best == Best::kNone || !is_shown(panel.scores[row].value)) return false;
  return std::none_of(panel.scores.begin(), panel.scores.end(), [&](const Score& other) {
    const double lead = written(other.value) - written(panel.scores[row].value);
    return plot.best == Best::kHighest ? lead > 0 : lead < 0;
  });
}

void draw_score(Drawing& drawing, const Score& score, const std::string& color,
                const svg::Axis& axis, double y) {
  if (is_shown(score.paper, axis.log) && axis.holds(score.paper)) {
    drawing.diamond({axis.at(score.paper), y}, 5.5, {.color = svg::kSoft, .width = 1.3});
  }
  if (!is_shown(score.value, axis.log) || !axis.holds(score.value)) return;
  if (is_shown(score.error)) {
    const auto end = [&](double value) { return axis.at(std::clamp(value, axis.low, axis.high)); };
    const double low = end(score.value - score.error);
    const double high = end(score.value + score.error);
    const svg::Stroke stroke{.color = color, .width = 1.5};
    drawing.line({low, y}, {high, y}, stroke);
    // No caps on short whiskers: touching the dot, they would make it look like a square.
    if (high - low > 4 * kDot) {
      for (const double x : {low, high}) drawing.line({x, y - 3}, {x, y + 3}, stroke);
    }
  }
  drawing.circle({axis.at(score.value), y}, kDot, color);
}

void draw_grid(Drawing& drawing, const DotPlot& plot, const PlotLayout& layout,
               const svg::Axis& axis, double top) {
  const double bottom = top + layout.height;
  for (const double middle : layout.row) {
    drawing.line({axis.from, top + middle}, {axis.to, top + middle},
                 {.color = svg::kGrid, .dashes = "1 3"});
  }
  const auto most = static_cast<int64_t>((axis.to - axis.from) / 46);
  const auto ticks = axis.log ? svg::log_ticks(axis.low, axis.high, most)
                              : svg::nice_ticks(axis.low, axis.high, most);
  for (const svg::Tick& tick : ticks) {
    const double x = axis.at(tick.value);
    drawing.line({x, top}, {x, bottom}, {.color = svg::kGrid});
    drawing.write({x, bottom + 15}, tick.text,
                  {.size = kNumber, .color = svg::kSoft, .anchor = Anchor::kMiddle});
  }
  drawing.line({axis.from, bottom}, {axis.to, bottom}, {.color = "#98A1AE"});
  drawing.write({(axis.from + axis.to) / 2, bottom + 31}, plot.x_label,
                {.size = kNumber,
                 .color = svg::kSoft,
                 .anchor = Anchor::kMiddle,
                 .room = axis.to - axis.from});
}

std::string hint(const DotPlot& plot, const DotPanel& panel, size_t row) {
  const Score& score = panel.scores[row];
  std::string text = plot.rows[row].name + ", " + panel.title + ": " + score_text(plot, score);
  if (is_shown(score.paper)) {
    text += "; " + plot.paper_name + " " + svg::fixed(score.paper, plot.decimals);
  }
  return text;
}

void draw_panel(Drawing& drawing, const DotPlot& plot, const DotPanel& panel,
                const PlotLayout& layout, Place corner) {
  const svg::Axis axis = axis_of(plot, panel, corner.x, layout.plot);
  draw_grid(drawing, plot, layout, axis, corner.y);
  for (size_t i = 0; i < plot.rows.size(); ++i) {
    const double y = corner.y + layout.row[i];
    const std::string& color = plot.rows[i].color;
    drawing.begin_hint(hint(plot, panel, i));
    draw_score(drawing, panel.scores[i], color.empty() ? std::string(svg::kPalette[0]) : color,
               axis, y);
    const bool best = is_best(plot, panel, i);
    drawing.write({axis.to + kNumberGap, y + kMiddle * kNumber}, score_text(plot, panel.scores[i]),
                  {.size = kNumber, .color = best ? svg::kInk : svg::kSoft, .bold = best});
    drawing.end_hint();
  }
}

void draw_names(Drawing& drawing, const DotPlot& plot, const PlotLayout& layout, double top,
                size_t panels) {
  for (size_t i = 0; i < plot.rows.size(); ++i) {
    drawing.write({layout.names, top + layout.row[i] + kMiddle * kName}, plot.rows[i].name,
                  {.size = kName, .anchor = Anchor::kEnd, .room = layout.names});
    if (!plot.rows[i].apart || i == 0) continue;
    const double y = top + layout.row[i] - (kRow + kApart) / 2;
    drawing.line({0, y}, {layout.left(panels) - kGap, y}, {.color = "#C5CBD5"});
  }
}

std::vector<parts::LegendEntry> legend_of(const DotPlot& plot) {
  std::vector<parts::LegendEntry> legend;
  if (!plot.value_name.empty() && any_has(plot, &Score::value)) {
    legend.push_back({.name = plot.value_name,
                      .color = std::string(svg::kPalette[0]),
                      .mark = parts::Mark::kDot});
  }
  if (!plot.paper_name.empty() && any_has(plot, &Score::paper)) {
    legend.push_back({.name = plot.paper_name, .mark = parts::Mark::kDiamond});
  }
  return legend;
}

}  // namespace

Fragment draw(const DotPlot& plot) {
  check(plot);
  const PlotLayout layout(plot);
  Drawing drawing;
  const parts::Heading title{.size = 13, .bold = true, .width = layout.width()};
  double y = title.draw(drawing, plot.title, 0);
  const auto legend = legend_of(plot);
  parts::draw_legend(drawing, legend, {0, y + 2}, layout.width());
  y += 2 + parts::legend_height(legend, layout.width()) + 8;
  const double room = layout.plot + kNumberGap + layout.numbers;
  for (size_t first = 0; first < plot.panels.size(); first += layout.columns) {
    const size_t count = std::min(layout.columns, plot.panels.size() - first);
    const double top = y + 22;
    draw_names(drawing, plot, layout, top, count);
    for (size_t i = 0; i < count; ++i) {
      const DotPanel& panel = plot.panels[first + i];
      drawing.write({layout.left(i), y + 13}, panel.title,
                    {.size = 12, .bold = true, .room = room});
      draw_panel(drawing, plot, panel, layout, {layout.left(i), top});
    }
    y = top + layout.height + (plot.x_label.empty() ? 20 : 36) + 14;
  }
  return {.content = drawing.text(), .width = layout.width(), .height = y - 14};
}

}  // namespace lase
