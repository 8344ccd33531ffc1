#include "report/parts.h"

#include <algorithm>
#include <cmath>

namespace lase::parts {
namespace {

constexpr double kMarkWidth = 18;
constexpr double kMarkGap = 6;    // between a mark and its name
constexpr double kEntryGap = 18;  // between entries

struct KeyPosition {
  double x = 0;
  double y = 0;
  double room = 0;  // for the name
};

// Where entries begin, each with its middle at y: one after the other where `column` is 0, else in
// columns of that width.
std::vector<KeyPosition> key_positions(const std::vector<KeyEntry>& entries, double width,
                                       double column) {
  std::vector<KeyPosition> positions;
  KeyPosition next{.y = kKeyRow / 2};
  for (const KeyEntry& entry : entries) {
    const double needed = kMarkWidth + kMarkGap + svg::text_width(entry.name, kKeySize);
    if (next.x > 0 && next.x + std::max(column - kEntryGap, needed) > width) {
      next = {.x = 0, .y = next.y + kKeyRow};
    }
    next.room = width - next.x - kMarkWidth - kMarkGap;
    positions.push_back(next);
    next.x += column > 0 ? column : needed + kEntryGap;
  }
  return positions;
}

// In columns where there are several rows and columns need hardly more of them.
std::vector<KeyPosition> key_positions(const std::vector<KeyEntry>& entries, double width) {
  double column = 0;
  for (const KeyEntry& entry : entries) {
    const double name = svg::text_width(entry.name, kKeySize);
    column = std::max(column, kMarkWidth + kMarkGap + name + kEntryGap);
  }
  auto dense = key_positions(entries, width, 0);
  auto even = key_positions(entries, width, column);
  if (entries.empty() || dense.back().y < kKeyRow) return dense;
  return even.back().y <= dense.back().y + 1.5 * kKeyRow ? even : dense;
}

}  // namespace

double key_height(const std::vector<KeyEntry>& entries, double width) {
  return entries.empty() ? 0 : key_positions(entries, width).back().y + kKeyRow / 2;
}

void draw_mark(svg::Drawing& drawing, const KeyEntry& entry, svg::Place center, double width) {
  const svg::Place from{center.x - width / 2, center.y};
  const svg::Place to{center.x + width / 2, center.y};
  switch (entry.mark) {
    case Mark::kLine:
      drawing.line(from, to,
                   {.colour = entry.colour, .width = 2, .dashes = entry.dashed ? "5 3" : ""});
      break;
    case Mark::kReference:
      drawing.line(from, to, {.colour = svg::kSoft, .dashes = "2 3"});
      break;
    case Mark::kDot:
      drawing.line(from, to, {.colour = entry.colour, .width = 1.5});
      drawing.circle(center, 4, entry.colour);
      break;
    case Mark::kDiamond:
      drawing.diamond(center, 5, {.colour = svg::kSoft, .width = 1.4});
      break;
  }
}

void draw_key(svg::Drawing& drawing, const std::vector<KeyEntry>& entries, svg::Place corner,
              double width) {
  const auto positions = key_positions(entries, width);
  for (size_t i = 0; i < entries.size(); ++i) {
    const double x = corner.x + positions[i].x;
    const double y = corner.y + positions[i].y;
    draw_mark(drawing, entries[i], {x + kMarkWidth / 2, y}, kMarkWidth);
    drawing.write({x + kMarkWidth + kMarkGap, y + 0.36 * kKeySize}, entries[i].name,
                  {.size = kKeySize, .room = positions[i].room});
  }
}

double Heading::height(std::string_view text) const {
  return static_cast<double>(svg::wrapped(text, width, size, bold).size()) * row();
}

double Heading::draw(svg::Drawing& drawing, std::string_view text, double y) const {
  for (const std::string& line : svg::wrapped(text, width, size, bold)) {
    drawing.write({0, y + size}, line, {.size = size, .colour = colour, .bold = bold});
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
