#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What pictures are written with. Lengths are pixels, from the top left.
namespace lase::svg {

// Okabe and Ito's colours, which people with any kind of colour vision tell apart; grey stands in
// for their yellow, which is too light for lines on white.
inline constexpr std::array<std::string_view, 8> kPalette = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222", "#8C8C8C"};
inline constexpr std::string_view kInk = "#222222";
inline constexpr std::string_view kSoft = "#5B6472";  // what is not read first
inline constexpr std::string_view kGrid = "#E4E7EC";

// With that many decimals and a true minus sign.
std::string fixed(double value, int decimals);
// As short as its digits allow: 0.05, 1500, 20k, 1.5M, 2e−7.
std::string short_number(double value);

// Of text in DejaVu Sans, which is wider than most: other fonts take less room.
double text_width(std::string_view text, double size, bool bold = false);
// The text, or as much of its beginning with "…" as has room.
std::string shortened(std::string_view text, double room, double size, bool bold = false);
// Lines that have room, broken at spaces; none for an empty text.
std::vector<std::string> wrapped(std::string_view text, double room, double size,
                                 bool bold = false);

struct Tick {
  double value = 0;
  std::string text = {};
};

// Multiples of 1, 2 or 5 times a power of ten in [low, high], at most about `most` of them, with
// the same number of decimals.
std::vector<Tick> nice_ticks(double low, double high, int64_t most);
// The same for a scale where equal ratios are equally far apart.
std::vector<Tick> log_ticks(double low, double high, int64_t most);

// Values [low, high] to places [from, to].
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
  std::string_view colour = kInk;
  double width = 1;
  std::string_view dashes = {};
  double opacity = 1;
};

enum class Anchor : uint8_t { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 11;
  std::string_view colour = kInk;
  Anchor anchor = Anchor::kStart;
  bool bold = false;
  double angle = 0;                                       // degrees, clockwise
  double room = std::numeric_limits<double>::infinity();  // text that needs more is shortened
};

// Elements, one after the other.
class Drawing {
 public:
  const std::string& text() const { return out_; }

  void line(Place from, Place to, const Stroke& stroke);
  void polyline(const std::vector<Place>& places, const Stroke& stroke);
  void area(const std::vector<Place>& places, std::string_view colour, double opacity);
  void circle(Place center, double radius, std::string_view fill,
              const std::optional<Stroke>& outline = {});
  void diamond(Place center, double radius, const Stroke& stroke);  // hollow
  void write(Place baseline, std::string_view text, const TextStyle& style);
  // What is drawn until the end shows only within the rectangle.
  void begin_window(Place corner, double width, double height);
  void end_window() { out_ += "</svg>\n"; }
  // Another drawing, its origin moved to the place.
  void insert(Place origin, std::string_view drawing);
  // What is drawn until the end tells this when pointed at; it may have several lines.
  void begin_hint(std::string_view text);
  void end_hint() { out_ += "</g>\n"; }

 private:
  void points(const std::vector<Place>& places);
  void attributes(const Stroke& stroke);

  std::string out_;
};

// Shortest text of a length, to a tenth of a pixel.
std::string length(double value);

// A picture of its own with a white ground.
std::string document(double width, double height, std::string_view label, std::string_view content);

}  // namespace lase::svg
