#pragma once

#include <vector>

#include "report/parts.h"

// The parts of a line chart.
namespace lase::parts {

inline constexpr double kTickSize = 10.5;  // of the texts of ticks and labels
inline constexpr double kMiddle = 0.36;    // from the middle of a text to its baseline, in sizes

double x_of(const Series& series, size_t i);
bool has_point(const LineChart& chart, const Series& series, size_t i);
bool has_error(const Series& series, size_t i);
bool has_few_points(const Series& series);  // so that they are marked one by one

// The axes, in what the margins leave.
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

// Names beside the ends of the lines: whether they have room in a plot of that height, how wide
// they are with the lines that lead to them, and drawing them.
bool end_names_fit(const LineChart& chart, double height);
double end_names_width(const LineChart& chart);
void draw_end_names(svg::Drawing& drawing, const LineChart& chart, const Frame& frame);

}  // namespace lase::parts
