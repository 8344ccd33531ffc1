#pragma once

#include <vector>

#include "report/parts.h"

// Layout of a line chart.
namespace lase::parts {

inline constexpr double kTickSize = 10.5;  // font size of ticks and labels
inline constexpr double kMiddle = 0.36;  // from the middle of a text to its baseline, in font sizes

double x_of(const Series& series, size_t i);
bool has_point(const LineChart& chart, const Series& series, size_t i);
bool has_error(const Series& series, size_t i);
bool has_few_points(const Series& series);  // each point gets a marker

// The axes, inside the margins.
struct Frame {
  svg::Axis x;
  svg::Axis y;
  std::vector<svg::Tick> x_ticks = {};
  std::vector<svg::Tick> y_ticks = {};

  Frame(const LineChart& chart, const Margins& margins);

  double width() const { return x.to - x.from; }
  double height() const { return y.from - y.to; }
  bool x_ticks_collide() const;

 private:
  void set_ranges(const LineChart& chart);
  void set_x_ticks(const LineChart& chart);
};

// Names at the line ends: whether they fit in a plot of this height, their width including the
// leaders, and drawing them.
bool end_names_fit(const LineChart& chart, double height);
double end_names_width(const LineChart& chart);
void draw_end_names(svg::Drawing& drawing, const LineChart& chart, const Frame& frame);

}  // namespace lase::parts
