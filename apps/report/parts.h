#pragma once

#include <string>
#include <vector>

#include "report/chart.h"

// Shared by line charts and dot plots.
namespace lase::parts {

enum class Mark : uint8_t { kLine, kReference, kDot, kDiamond };

struct LegendEntry {
  std::string name = {};
  std::string color = {};
  Mark mark = Mark::kLine;
  bool dashed = false;
};

inline constexpr double kLegendRow = 17;
inline constexpr double kLegendSize = 11;

// Entries run from left to right and wrap into rows that fit the width; `corner` is the top left.
double legend_height(const std::vector<LegendEntry>& entries, double width);
void draw_legend(svg::Drawing& drawing, const std::vector<LegendEntry>& entries, svg::Place corner,
                 double width);

// A short stroke or a symbol, centered.
void draw_mark(svg::Drawing& drawing, const LegendEntry& entry, svg::Place center, double width);

// Text wrapped into lines; draw() starts at y and returns the y below the last line.
struct Heading {
  double size = 12;
  bool bold = false;
  std::string_view color = svg::kInk;
  double width = 0;  // available

  double row() const { return size + 4; }
  double height(std::string_view text) const;
  double draw(svg::Drawing& drawing, std::string_view text, double y) const;
};

// Space between the edge of a line chart and its axes, and the layout choices behind it.
struct Margins {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  LegendPlace legend = LegendPlace::kNone;
  bool tilted = false;  // x tick labels
};

// Fills in missing colors from the palette, in order; dashes once the palette is used up.
std::vector<Series> styled(const std::vector<Series>& series);
std::vector<LegendEntry> legend_of(const LineChart& chart);

Margins margins_of(const LineChart& chart);
Fragment draw(const LineChart& chart, const Margins& margins);

// Whether a value can be drawn: finite, and positive on a logarithmic scale.
bool is_shown(double value, bool log = false);

// The range of the values that can be drawn, initially empty.
class Extent {
 public:
  explicit Extent(bool log = false) : log_(log) {}

  void add(double value);
  bool empty() const { return !(low_ <= high_); }
  // Adds `room` times the range on either side, but does not extend below zero.
  Range padded(double room) const;

 private:
  bool log_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

}  // namespace lase::parts
