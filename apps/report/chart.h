#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "report/svg.h"

namespace lase {

// SVG charts for documents and pages. Lengths are in pixels. Non-finite values count as missing:
// lines have a gap there and dots are not drawn. Any SVG color is valid; an empty color is chosen
// from svg::kPalette.

struct Range {
  double low = 0;
  double high = 1;
};

// How ±1 standard error is drawn. Automatic: whiskers if the series has few points, else a band.
enum class ErrorStyle : uint8_t { kAutomatic, kBand, kWhiskers };

// Position of the series names. Automatic: at the line ends if they fit there, else below the
// chart. Names never cover data.
enum class LegendPlace : uint8_t { kAutomatic, kLineEnds, kBelow, kNone };

struct Series {
  std::string name = {};
  std::vector<double> x = {};      // empty: 1, 2, …
  std::vector<double> y = {};      // [x]
  std::vector<double> error = {};  // [x], standard errors; empty: none
  std::string color = {};
  bool dashed = false;
};

// A horizontal reference line.
struct Reference {
  double value = 0;
  std::string name = {};
};

struct LineChart {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};  // written above the axis
  std::vector<Series> series = {};
  std::vector<Reference> references = {};
  bool x_log = false;
  std::vector<svg::Tick> x_ticks = {};  // empty: round numbers
  std::optional<Range> x_range = {};
  std::optional<Range> y_range = {};  // lines are clipped to it
  ErrorStyle errors = ErrorStyle::kAutomatic;
  LegendPlace legend = LegendPlace::kAutomatic;
  double width = 440;  // total; the height grows if the legend below needs it
  double height = 280;
};

struct Score {
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();
  double paper = std::numeric_limits<double>::quiet_NaN();  // published value
};

struct DotRow {
  std::string name = {};
  std::string color = {};
  bool apart = false;  // separated from the row above by a line
};

struct DotPanel {
  std::string title = {};
  std::vector<Score> scores = {};  // [rows]
  std::optional<Range> x_range = {};
};

enum class Best : uint8_t { kNone, kHighest, kLowest };

// Scores of models (rows) on data sets (panels): a dot with whiskers of ±1 standard error, a hollow
// diamond for the published value, and the numbers on the right. Dots rather than bars, because the
// axis need not start at zero.
struct DotPlot {
  std::string title = {};
  std::string x_label = {};
  std::vector<DotRow> rows = {};
  std::vector<DotPanel> panels = {};
  std::string value_name = "lase (± standard error)";
  std::string paper_name = "paper";
  int64_t columns = 0;  // of panels; 0: as many as fit
  int decimals = 3;
  Best best = Best::kHighest;  // printed in bold
  bool x_log = false;
  double width = 880;
};

// A drawing whose top-left corner is (0, 0).
struct Fragment {
  std::string content = {};
  double width = 0;
  double height = 0;
};

Fragment draw(const LineChart& chart);
Fragment draw(const DotPlot& plot);

using Panel = std::variant<LineChart, DotPlot, Fragment>;

struct PanelOptions {
  std::string title = {};
  std::string subtitle = {};
  int64_t columns = 3;
  // One legend for all line charts, below the titles; series with the same name share a color.
  bool shared_legend = false;
};

// A complete SVG with panels in rows; the axes of line charts are aligned by row and column.
std::string svg_panels(std::span<const Panel> panels, const PanelOptions& options);

// A complete SVG with one chart.
std::string svg_picture(const Panel& panel);

}  // namespace lase
