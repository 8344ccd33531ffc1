#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Writing SVG. Lengths are in pixels from the top left.
namespace lase::svg {

// The colorblind-safe palette of Okabe and Ito, with gray instead of their yellow, which is too
// light for lines on white.
inline constexpr std::array<std::string_view, 8> kPalette = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222", "#8C8C8C"};
inline constexpr std::string_view kInk = "#222222";
inline constexpr std::string_view kSoft = "#5B6472";  // secondary text
inline constexpr std::string_view kGrid = "#E4E7EC";

// Fixed number of decimals, with a true minus sign (U+2212).
std::string fixed(double value, int decimals);
// Shortest form: 0.05, 1500, 20k, 1.5M, 2e−7.
std::string short_number(double value);

// Width of text in DejaVu Sans, which is wider than most fonts, so text in other fonts fits too.
double text_width(std::string_view text, double size, bool bold = false);
// The text, cut and ended with "…" if it is wider than `room`.
std::string shortened(std::string_view text, double room, double size, bool bold = false);
// Lines no wider than `room`, broken at spaces; empty for an empty text.
std::vector<std::string> wrapped(std::string_view text, double room, double size,
                                 bool bold = false);

struct Tick {
  double value = 0;
  std::string text = {};
};

// Multiples of 1, 2 or 5 times a power of ten in [low, high], about `most` at most, all with the
// same number of decimals.
std::vector<Tick> nice_ticks(double low, double high, int64_t most);
// The same for a logarithmic scale.
std::vector<Tick> log_ticks(double low, double high, int64_t most);

// Maps values in [low, high] to positions in [from, to].
struct Axis {
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;
  bool log = false;

  bool holds(double value) const { return value >= low && value <= high; }
  double at(double value) const;
};

struct Place {
  double x = 0;
  double y = 0;
};

struct Stroke {
  std::string_view color = kInk;
  double width = 1;
  std::string_view dashes = {};
  double opacity = 1;
};

enum class Anchor : uint8_t { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 11;
  std::string_view color = kInk;
  Anchor anchor = Anchor::kStart;
  bool bold = false;
  double angle = 0;                                       // degrees, clockwise
  double room = std::numeric_limits<double>::infinity();  // wider text is shortened
};

// Appends SVG elements in drawing order.
class Drawing {
 public:
  const std::string& text() const { return out_; }

  void line(Place from, Place to, const Stroke& stroke);
  void polyline(const std::vector<Place>& places, const Stroke& stroke);
  void area(const std::vector<Place>& places, std::string_view color, double opacity);
  void circle(Place center, double radius, std::string_view fill,
              const std::optional<Stroke>& outline = {});
  void diamond(Place center, double radius, const Stroke& stroke);  // hollow
  void write(Place baseline, std::string_view text, const TextStyle& style);
  // Elements until end_window() are clipped to the rectangle.
  void begin_window(Place corner, double width, double height);
  void end_window() { out_ += "</svg>\n"; }
  // Another drawing, translated to `origin`.
  void insert(Place origin, std::string_view drawing);
  // Elements until end_hint() share this tooltip, which may have several lines.
  void begin_hint(std::string_view text);
  void end_hint() { out_ += "</g>\n"; }

 private:
  void points(const std::vector<Place>& places);
  void attributes(const Stroke& stroke);

  std::string out_;
};

// Shortest text of a length, rounded to a tenth of a pixel.
std::string length(double value);

// A standalone SVG with a white background; `label` is its accessible name.
std::string document(double width, double height, std::string_view label, std::string_view content);

}  // namespace lase::svg
