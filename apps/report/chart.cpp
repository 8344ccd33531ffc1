#include "report/chart.h"

#include <algorithm>
#include <map>

#include "lase/base/error.h"

#include "report/parts.h"

namespace lase {
namespace {

using parts::LegendEntry;
using parts::Margins;

constexpr double kPadding = 14;  // around the panels
constexpr double kGapX = 26;     // between panels
constexpr double kGapY = 24;

// Panels in rows of `columns`, each with its size and, for line charts, its margins.
class Grid {
 public:
  Grid(std::vector<Panel> panels, size_t columns) : panels_(std::move(panels)), columns_(columns) {
    margins_.resize(panels_.size());
    for (size_t i = 0; i < panels_.size(); ++i) {
      if (const auto* chart = std::get_if<LineChart>(&panels_[i])) {
        margins_[i] = parts::margins_of(*chart);
      }
    }
    for (size_t i = 0; i < panels_.size(); ++i) align(i);
    for (size_t i = 0; i < panels_.size(); ++i) {
      fragments_.push_back(
          std::visit([&](const auto& panel) { return drawn(panel, i); }, panels_[i]));
    }
  }

  // Draws the panels from y downward and returns their bottom-right corner.
  svg::Place draw(svg::Drawing& drawing, double y) const {
    std::vector<double> width(columns_);
    for (size_t i = 0; i < fragments_.size(); ++i) {
      width[i % columns_] = std::max(width[i % columns_], fragments_[i].width);
    }
    svg::Place end{0, y};
    for (size_t first = 0; first < fragments_.size(); first += columns_) {
      svg::Place corner{0, end.y + (first > 0 ? kGapY : 0)};
      for (size_t i = first; i < std::min(first + columns_, fragments_.size()); ++i) {
        drawing.insert(corner, fragments_[i].content);
        end.x = std::max(end.x, corner.x + fragments_[i].width);
        end.y = std::max(end.y, corner.y + fragments_[i].height);
        corner.x += width[i % columns_] + kGapX;
      }
    }
    return end;
  }

 private:
  // Left and right margins are the widest of the column, top and bottom the tallest of the row.
  void align(size_t i) {
    if (!std::holds_alternative<LineChart>(panels_[i])) return;
    for (size_t j = 0; j < panels_.size(); ++j) {
      if (j % columns_ == i % columns_) {
        margins_[i].left = std::max(margins_[i].left, margins_[j].left);
        margins_[i].right = std::max(margins_[i].right, margins_[j].right);
      }
      if (j / columns_ == i / columns_) {
        margins_[i].top = std::max(margins_[i].top, margins_[j].top);
        margins_[i].bottom = std::max(margins_[i].bottom, margins_[j].bottom);
      }
    }
  }

  Fragment drawn(const LineChart& chart, size_t i) const { return parts::draw(chart, margins_[i]); }
  static Fragment drawn(const DotPlot& plot, size_t) { return lase::draw(plot); }
  static Fragment drawn(const Fragment& fragment, size_t) { return fragment; }

  std::vector<Panel> panels_;
  size_t columns_;
  std::vector<Margins> margins_;
  std::vector<Fragment> fragments_;
};

// Moves the legends of all line charts into one; a name has the same style in all charts.
std::vector<LegendEntry> take_legends(std::vector<Panel>& panels) {
  std::vector<Series> all;
  std::vector<LegendEntry> references;
  std::map<std::string, size_t> place;
  for (const Panel& panel : panels) {
    const auto* chart = std::get_if<LineChart>(&panel);
    if (chart == nullptr) continue;
    for (const Series& one : chart->series) {
      if (place.emplace(one.name, all.size()).second) {
        all.push_back({.name = one.name, .color = one.color, .dashed = one.dashed});
      }
    }
    for (const Reference& one : chart->references) {
      const auto same = [&](const LegendEntry& entry) { return entry.name == one.name; };
      if (one.name.empty() || std::any_of(references.begin(), references.end(), same)) continue;
      references.push_back({.name = one.name, .mark = parts::Mark::kReference});
    }
  }
  all = parts::styled(all);
  for (Panel& panel : panels) {
    auto* chart = std::get_if<LineChart>(&panel);
    if (chart == nullptr) continue;
    chart->legend = LegendPlace::kNone;
    for (Series& one : chart->series) {
      one.color = all[place[one.name]].color;
      one.dashed = all[place[one.name]].dashed;
    }
  }
  std::vector<LegendEntry> legend;
  for (const Series& one : all) {
    if (!one.name.empty())
      legend.push_back({.name = one.name, .color = one.color, .dashed = one.dashed});
  }
  legend.insert(legend.end(), references.begin(), references.end());
  return legend;
}

// Accessible name, for screen readers.
std::string label_of(std::span<const Panel> panels, const PanelOptions& options) {
  std::string label = options.title;
  for (const Panel& panel : panels) {
    const auto* chart = std::get_if<LineChart>(&panel);
    const auto* plot = std::get_if<DotPlot>(&panel);
    const std::string title = chart != nullptr ? chart->title : plot != nullptr ? plot->title : "";
    if (!title.empty()) label += (label.empty() ? "" : "; ") + title;
  }
  return label;
}

}  // namespace

Fragment draw(const LineChart& chart) { return parts::draw(chart, parts::margins_of(chart)); }

std::string svg_panels(std::span<const Panel> panels, const PanelOptions& options) {
  require(options.columns >= 1, "charts in ", options.columns, " columns: expected at least 1");
  std::vector<Panel> shown(panels.begin(), panels.end());
  const auto legend = options.shared_legend ? take_legends(shown) : std::vector<LegendEntry>();
  const auto columns = std::clamp<size_t>(shown.size(), 1, static_cast<size_t>(options.columns));
  const Grid grid(std::move(shown), columns);

  svg::Drawing scratch;
  const double least = 240;  // for headings
  const double width = std::max(least, grid.draw(scratch, 0).x);
  svg::Drawing drawing;
  const parts::Heading title{.size = 15, .bold = true, .width = width};
  const parts::Heading subtitle{.size = 11.5, .color = svg::kSoft, .width = width};
  double y = title.draw(drawing, options.title, 0);
  y = subtitle.draw(drawing, options.subtitle, y);
  if (!legend.empty()) {
    parts::draw_legend(drawing, legend, {0, y + 4}, width);
    y += 4 + parts::legend_height(legend, width);
  }
  const svg::Place end = grid.draw(drawing, y > 0 ? y + 10 : 0);
  svg::Drawing padded;
  padded.insert({kPadding, kPadding}, drawing.text());
  return svg::document(width + 2 * kPadding, end.y + 2 * kPadding, label_of(panels, options),
                       padded.text());
}

std::string svg_picture(const Panel& panel) { return svg_panels({&panel, 1}, {.columns = 1}); }

}  // namespace lase
