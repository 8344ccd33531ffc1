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

// Charts for documents and pages, as SVG text. Lengths are pixels. Values that are not finite are
// missing: lines have a gap there, and dots are not drawn. Colours are any that SVG knows; empty
// ones are chosen from svg::kPalette.

struct Range {
  double low = 0;
  double high = 1;
};

// How one standard error on either side is shown. Automatic: whiskers for few points, else a band.
enum class ErrorStyle : uint8_t { kAutomatic, kBand, kWhiskers };

// Where series are named. Automatic: beside the ends of the lines where the names have room there,
// else below. Nowhere does a name cover data.
enum class KeyPlace : uint8_t { kAutomatic, kLineEnds, kBelow, kNone };

struct Series {
  std::string name = {};
  std::vector<double> x = {};      // empty: 1, 2, …
  std::vector<double> y = {};      // [x]
  std::vector<double> error = {};  // [x], standard errors; empty: none
  std::string colour = {};
  bool dashed = false;
};

// A level to compare with, as a line across.
struct Reference {
  double value = 0;
  std::string name = {};
};

struct LineChart {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};  // stands above the axis
  std::vector<Series> series = {};
  std::vector<Reference> references = {};
  bool x_log = false;
  std::vector<svg::Tick> x_ticks = {};  // empty: round numbers
  std::optional<Range> x_range = {};
  std::optional<Range> y_range = {};  // lines go out of it without a trace
  ErrorStyle errors = ErrorStyle::kAutomatic;
  KeyPlace key = KeyPlace::kAutomatic;
  double width = 440;  // of everything; a key below that needs more height gets it
  double height = 280;
};

struct Score {
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();
  double paper = std::numeric_limits<double>::quiet_NaN();  // what it is compared with
};

struct DotRow {
  std::string name = {};
  std::string colour = {};
  bool apart = false;  // a line separates it from the row above
};

struct DotPanel {
  std::string title = {};
  std::vector<Score> scores = {};  // [rows]
  std::optional<Range> x_range = {};
};

enum class Best : uint8_t { kNone, kHighest, kLowest };

// Scores of models (rows) on data sets (panels): a dot with a whisker of one standard error on
// either side, a hollow diamond for the value it is compared with, and the numbers at the right.
// Dots and not bars, because scales need not start at zero.
struct DotPlot {
  std::string title = {};
  std::string x_label = {};
  std::vector<DotRow> rows = {};
  std::vector<DotPanel> panels = {};
  std::string value_name = "here, with standard error";
  std::string paper_name = "in the paper";
  int64_t columns = 0;  // of panels; 0: as many as have room
  int decimals = 3;
  Best best = Best::kHighest;  // whose number is bold
  bool x_log = false;
  double width = 880;
};

// Something drawn from (0, 0) on.
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
  // One key for all line charts, below the titles. Series of one name have the same colour.
  bool shared_key = false;
};

// A whole picture of panels in rows. Line charts of a column or row have their axes in line.
std::string svg_panels(std::span<const Panel> panels, const PanelOptions& options);

// A whole picture of one chart.
std::string svg_picture(const Panel& panel);

}  // namespace lase
