#include "report/line_frame.h"

#include <algorithm>
#include <cmath>

namespace lase::parts {
namespace {

constexpr double kLeastWidth = 80;
constexpr double kLeastHeight = 110;
constexpr size_t kFew = 16;

}  // namespace

double x_of(const Series& series, size_t i) {
  return series.x.empty() ? static_cast<double>(i + 1) : series.x[i];
}

bool has_point(const LineChart& chart, const Series& series, size_t i) {
  return is_shown(x_of(series, i), chart.x_log) && is_shown(series.y[i]);
}

bool has_error(const Series& series, size_t i) {
  return !series.error.empty() && is_shown(series.error[i]);
}

bool has_few_points(const Series& series) { return series.y.size() <= kFew; }

Frame::Frame(const LineChart& chart, const Margins& margins)
    : x{.from = margins.left,
        .to = margins.left + std::max(kLeastWidth, chart.width - margins.left - margins.right),
        .log = chart.x_log},
      y{.from = margins.top + std::max(kLeastHeight, chart.height - margins.top - margins.bottom),
        .to = margins.top} {
  set_ranges(chart);
  y_ticks = svg::nice_ticks(y.low, y.high, static_cast<int64_t>(std::max(4.0, height() / 40)));
  set_x_ticks(chart);
}

void Frame::set_ranges(const LineChart& chart) {
  Extent across(chart.x_log);
  Extent up;
  bool few = false;
  for (const Series& one : chart.series) {
    few = few || has_few_points(one);
    for (size_t i = 0; i < one.y.size(); ++i) {
      if (!has_point(chart, one, i)) continue;
      const double error = has_error(one, i) ? one.error[i] : 0;
      across.add(x_of(one, i));
      up.add(one.y[i] - error);
      up.add(one.y[i] + error);
    }
  }
  for (const svg::Tick& tick : chart.x_ticks) across.add(tick.value);
  for (const Reference& one : chart.references) up.add(one.value);
  const Range x_range = chart.x_range.value_or(across.padded(few ? 0.03 : 0));
  x.low = x_range.low;
  x.high = x_range.high;
  Range y_range = up.padded(0.05);
  if (y_range.low > 0 && y_range.low < 0.25 * y_range.high) y_range.low = 0;
  y_range = chart.y_range.value_or(y_range);
  y.low = y_range.low;
  y.high = y_range.high;
}

bool Frame::x_ticks_collide() const {
  for (size_t i = 1; i < x_ticks.size(); ++i) {
    const double room = std::abs(x.at(x_ticks[i].value) - x.at(x_ticks[i - 1].value));
    const double both = svg::text_width(x_ticks[i].text, kTickSize) +
                        svg::text_width(x_ticks[i - 1].text, kTickSize);
    if (both / 2 + 8 > room) return true;
  }
  return false;
}

void Frame::set_x_ticks(const LineChart& chart) {
  for (const svg::Tick& tick : chart.x_ticks) {
    if (is_shown(tick.value, chart.x_log) && x.holds(tick.value)) x_ticks.push_back(tick);
  }
  if (!chart.x_ticks.empty()) return;
  for (auto most = static_cast<int64_t>(width() / 44); most >= 1; --most) {
    x_ticks = x.log ? svg::log_ticks(x.low, x.high, most) : svg::nice_ticks(x.low, x.high, most);
    if (!x_ticks_collide()) return;
  }
}

}  // namespace lase::parts
