#include "report/parts.h"

#include <algorithm>
#include <cmath>

namespace lase::parts {
namespace {

constexpr double kMarkWidth = 18;
constexpr double kMarkGap = 6;    // between a mark and its name
constexpr double kEntryGap = 18;  // between entries

struct LegendPosition {
  double x = 0;
  double y = 0;
  double room = 0;  // width available for the name
};

// Left edge and vertical center of each entry: one after the other if `column` is 0, else in
// columns of that width.
std::vector<LegendPosition> legend_positions(const std::vector<LegendEntry>& entries, double width,
                                             double column) {
  std::vector<LegendPosition> positions;
  LegendPosition next{.y = kLegendRow / 2};
  for (const LegendEntry& entry : entries) {
    const double needed = kMarkWidth + kMarkGap + svg::text_width(entry.name, kLegendSize);
    if (next.x > 0 && next.x + std::max(column - kEntryGap, needed) > width) {
      next = {.x = 0, .y = next.y + kLegendRow};
    }
    next.room = width - next.x - kMarkWidth - kMarkGap;
    positions.push_back(next);
    next.x += column > 0 ? column : needed + kEntryGap;
  }
  return positions;
}

// Uses columns if there are several rows and columns need at most about one row more.
std::vector<LegendPosition> legend_positions(const std::vector<LegendEntry>& entries,
                                             double width) {
  double column = 0;
  for (const LegendEntry& entry : entries) {
    const double name = svg::text_width(entry.name, kLegendSize);
    column = std::max(column, kMarkWidth + kMarkGap + name + kEntryGap);
  }
  auto dense = legend_positions(entries, width, 0);
  auto even = legend_positions(entries, width, column);
  if (entries.empty() || dense.back().y < kLegendRow) return dense;
  return even.back().y <= dense.back().y + 1.5 * kLegendRow ? even : dense;
}

}  // namespace

double legend_height(const std::vector<LegendEntry>& entries, double width) {
  return entries.empty() ? 0 : legend_positions(entries, width).back().y + kLegendRow / 2;
}

void draw_mark(svg::Drawing& drawing, const LegendEntry& entry, svg::Place center, double width) {
  const svg::Place from{center.x - width / 2, center.y};
  const svg::Place to{center.x + width / 2, center.y};
  switch (entry.mark) {
    case Mark::kLine:
      drawing.line(from, to,
                   {.color = entry.color, .width = 2, .dashes = entry.dashed ? "5 3" : ""});
      break;
    case Mark::kReference:
      drawing.line(from, to, {.color = svg::kSoft, .dashes = "2 3"});
      break;
    case Mark::kDot:
      drawing.line(from, to, {.color = entry.color, .width = 1.5});
      drawing.circle(center, 4, entry.color);
      break;
    case Mark::kDiamond:
      drawing.diamond(center, 5, {.color = svg::kSoft, .width = 1.4});
      break;
  }
}

void draw_legend(svg::Drawing& drawing, const std::vector<LegendEntry>& entries, svg::Place corner,
                 double width) {
  const auto positions = legend_positions(entries, width);
  for (size_t i = 0; i < entries.size(); ++i) {
    const double x = corner.x + positions[i].x;
    const double y = corner.y + positions[i].y;
    draw_mark(drawing, entries[i], {x + kMarkWidth / 2, y}, kMarkWidth);
    drawing.write({x + kMarkWidth + kMarkGap, y + 0.36 * kLegendSize}, entries[i].name,
                  {.size = kLegendSize, .room = positions[i].room});
  }
}

double Heading::height(std::string_view text) const {
  return static_cast<double>(svg::wrapped(text, width, size, bold).size()) * row();
}

double Heading::draw(svg::Drawing& drawing, std::string_view text, double y) const {
  for (const std::string& line : svg::wrapped(text, width, size, bold)) {
    drawing.write({0, y + size}, line, {.size = size, .color = color, .bold = bold});
    y += row();
  }
  return y;
}

bool is_shown(double value, bool log) { return std::isfinite(value) && (!log || value > 0); }

void Extent::add(double value) {
  if (!is_shown(value, log_)) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

Range Extent::padded(double room) const {
  if (empty()) return log_ ? Range{.low = 1, .high = 10} : Range{};
  if (log_) {
    const double factor = low_ < high_ ? std::pow(high_ / low_, room) : 2;
    return {.low = low_ / factor, .high = high_ * factor};
  }
  const double size = low_ < high_ ? high_ - low_ : std::max(std::abs(low_), 1e-300);
  const double more = low_ < high_ ? room * size : 0.1 * size;
  const double low = low_ >= 0 ? std::max(0.0, low_ - more) : low_ - more;
  return low_ == 0 && high_ == 0 ? Range{.low = 0, .high = 1}
                                 : Range{.low = low, .high = high_ + more};
}

}  // namespace lase::parts
