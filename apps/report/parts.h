#pragma once

#include <string>
#include <vector>

#include "report/chart.h"

// What the kinds of charts have in common.
namespace lase::parts {

enum class Mark : uint8_t { kLine, kReference, kDot, kDiamond };

struct KeyEntry {
  std::string name = {};
  std::string colour = {};
  Mark mark = Mark::kLine;
  bool dashed = false;
};

inline constexpr double kKeyRow = 17;
inline constexpr double kKeySize = 11;

// Entries from left to right, in as many rows as they need: their height and, with a drawing, the
// entries from the corner on.
double key_height(const std::vector<KeyEntry>& entries, double width);
void draw_key(svg::Drawing& drawing, const std::vector<KeyEntry>& entries, svg::Place corner,
              double width);

// A short stroke or symbol around the place.
void draw_mark(svg::Drawing& drawing, const KeyEntry& entry, svg::Place center, double width);

// Lines of text from y on; the y below them.
struct Heading {
  double size = 12;
  bool bold = false;
  std::string_view colour = svg::kInk;
  double width = 0;  // that it has

  double row() const { return size + 4; }
  double height(std::string_view text) const;
  double draw(svg::Drawing& drawing, std::string_view text, double y) const;
};

// Between the edge of a line chart and its axes, and what was decided for them.
struct Margins {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  KeyPlace key = KeyPlace::kNone;
  bool tilted = false;  // the texts of the x ticks
};

// Series with colours and dashes where none were given, by place in the list.
std::vector<Series> styled(const std::vector<Series>& series);
std::vector<KeyEntry> key_of(const LineChart& chart);

Margins margins_of(const LineChart& chart);
Fragment draw(const LineChart& chart, const Margins& margins);

// Values that can be shown: finite, and positive on a logarithmic scale.
bool is_shown(double value, bool log = false);

// The range of what is shown, with some room on either side. It starts with nothing at all.
class Extent {
 public:
  explicit Extent(bool log = false) : log_(log) {}

  void add(double value);
  bool empty() const { return !(low_ <= high_); }
  // Room is a share of the range on either side; it does not lead below zero.
  Range padded(double room) const;

 private:
  bool log_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

}  // namespace lase::parts
