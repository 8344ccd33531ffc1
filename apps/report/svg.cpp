#include "report/svg.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "report/markup.h"

namespace lase::svg {
namespace {

// Hundredths of the size, from the space to the tilde.
constexpr std::array<uint8_t, 95> kWidths = {
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 77, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84};

double character_width(char32_t code) {
  if (code >= ' ' && code <= '~') return kWidths[code - ' '] / 100.0;
  if (code >= 0x300 && code < 0x370) return 0;  // accents on what stands before
  if (code < 0x2000) return 0.7;
  return code < 0x2E80 ? 0.88 : 1.05;
}

template <class... How>
std::string digits(double value, How... how) {
  std::array<char, 400> buffer = {};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, how...).ptr;
  return {buffer.data(), end};
}

// A hyphen before a number or an exponent to a minus sign; no sign before zero.
std::string with_minus(std::string text) {
  if (text.find_first_not_of("-0.") == std::string::npos) std::erase(text, '-');
  if (const auto plus = text.find("e+"); plus != std::string::npos) text.erase(plus + 1, 1);
  for (const std::string_view zero : {"e0", "e-0"}) {
    if (const auto at = text.find(zero); at != std::string::npos)
      text.erase(at + zero.size() - 1, 1);
  }
  for (auto at = text.find('-'); at != std::string::npos; at = text.find('-', at)) {
    text.replace(at, 1, "−");
  }
  return text;
}

struct Unit {
  double size = 1;
  std::string_view suffix = {};
};

// What large numbers are counted in.
Unit unit_of(double value) {
  if (std::abs(value) < 1e4 || std::abs(value) >= 1e15) return {};
  if (std::abs(value) >= 1e12) return {.size = 1e12, .suffix = "T"};
  if (std::abs(value) >= 1e9) return {.size = 1e9, .suffix = "G"};
  if (std::abs(value) >= 1e6) return {.size = 1e6, .suffix = "M"};
  return {.size = 1e3, .suffix = "k"};
}

// The text of a multiple of `step` among ticks up to `largest`.
std::string tick_text(double value, double step, double largest) {
  if (largest < 1e-3 || largest >= 1e15) return value == 0 ? "0" : short_number(value);
  const Unit unit = unit_of(largest);
  const double places = -std::floor(std::log10(step / unit.size) + 1e-9);
  const std::string text = fixed(value / unit.size, static_cast<int>(std::clamp(places, 0., 12.)));
  return value == 0 ? "0" : text + std::string(unit.suffix);
}

}  // namespace

std::string fixed(double value, int decimals) {
  return with_minus(digits(value, std::chars_format::fixed, decimals));
}

std::string short_number(double value) {
  const Unit unit = unit_of(value);
  // Twelve digits: what arithmetic adds behind them is not shown.
  const std::string text = digits(value / unit.size, std::chars_format::general, 12);
  return with_minus(text) + std::string(unit.suffix);
}

std::string length(double value) {
  std::string text = digits(value, std::chars_format::fixed, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, double size, bool bold) {
  double width = 0;
  for_each_character(text, [&](Character character, std::string_view) {
    width += character_width(character.code);
  });
  return width * size * (bold ? 1.12 : 1);
}

std::string shortened(std::string_view text, double room, double size, bool bold) {
  if (text_width(text, size, bold) <= room) return std::string(text);
  const double left = room - text_width("…", size, bold);
  std::string kept;
  double width = 0;
  for_each_character(text, [&](Character, std::string_view bytes) {
    width += text_width(bytes, size, bold);
    if (width <= left) kept += bytes;
  });
  return kept + "…";
}

std::vector<std::string> wrapped(std::string_view text, double room, double size, bool bold) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!lines.empty()) {
      std::string longer = lines.back() + " " + std::string(word);
      if (text_width(longer, size, bold) <= room) {
        lines.back() = std::move(longer);
        continue;
      }
    }
    lines.push_back(shortened(word, room, size, bold));
  }
  return lines;
}

std::vector<Tick> nice_ticks(double low, double high, int64_t most) {
  if (!(low < high)) return {{.value = low, .text = short_number(low)}};
  const double rough = (high - low) / static_cast<double>(std::max<int64_t>(1, most));
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1., 2., 5.}) {
    if (factor * power >= 0.75 * rough) {
      step = factor * power;
      break;
    }
  }
  const double largest = std::max(std::abs(low), std::abs(high));
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k <= std::floor(high / step + 1e-9); ++k) {
    ticks.push_back({.value = k * step, .text = tick_text(k * step, step, largest)});
    if (k + 1 == k) break;  // the range is too narrow for numbers of its size
  }
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int64_t most) {
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const auto last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const auto collect = [&](std::initializer_list<double> factors, int every) {
    std::vector<Tick> ticks;
    for (int power = first; power <= last; ++power) {
      for (const double factor : factors) {
        const double value = factor * std::pow(10.0, power);
        if (power % every != 0 || value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
        ticks.push_back({.value = value, .text = short_number(value)});
      }
    }
    return ticks;
  };
  std::vector<Tick> ticks = collect({1, 2, 5}, 1);
  const auto too_many = [&] {
    return static_cast<int64_t>(ticks.size()) > std::max<int64_t>(2, most);
  };
  for (int every = 1; too_many() && every <= last - first + 1; ++every) ticks = collect({1}, every);
  return ticks.size() >= 2 ? ticks : nice_ticks(low, high, most);
}

double Axis::at(double value) const {
  const auto scaled = [&](double x) { return log ? std::log10(x) : x; };
  const double share = (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
  return from + (to - from) * share;
}

void Drawing::attributes(const Stroke& stroke) {
  out_ += " stroke=\"" + escaped(stroke.colour) + "\"";
  if (stroke.width != 1) out_ += " stroke-width=\"" + length(stroke.width) + "\"";
  if (!stroke.dashes.empty()) out_ += " stroke-dasharray=\"" + escaped(stroke.dashes) + "\"";
  if (stroke.opacity != 1) out_ += " stroke-opacity=\"" + short_number(stroke.opacity) + "\"";
}

void Drawing::line(Place from, Place to, const Stroke& stroke) {
  out_ += "<line x1=\"" + length(from.x) + "\" y1=\"" + length(from.y) + "\" x2=\"" + length(to.x) +
          "\" y2=\"" + length(to.y) + "\"";
  attributes(stroke);
  out_ += "/>\n";
}

void Drawing::points(const std::vector<Place>& places) {
  out_ += " points=\"";
  for (size_t i = 0; i < places.size(); ++i) {
    if (i > 0) out_ += ' ';
    out_ += length(places[i].x);
    out_ += ',';
    out_ += length(places[i].y);
  }
  out_ += "\"";
}

void Drawing::polyline(const std::vector<Place>& places, const Stroke& stroke) {
  out_ += "<polyline";
  points(places);
  out_ += " fill=\"none\" stroke-linejoin=\"round\"";
  attributes(stroke);
  out_ += "/>\n";
}

void Drawing::area(const std::vector<Place>& places, std::string_view colour, double opacity) {
  out_ += "<polygon";
  points(places);
  out_ += " fill=\"" + escaped(colour) + "\" fill-opacity=\"" + short_number(opacity) + "\"/>\n";
}

void Drawing::circle(Place center, double radius, std::string_view fill) {
  out_ += "<circle cx=\"" + length(center.x) + "\" cy=\"" + length(center.y) + "\" r=\"" +
          length(radius) + "\" fill=\"" + escaped(fill) + "\"/>\n";
}

void Drawing::diamond(Place center, double radius, const Stroke& stroke) {
  out_ += "<polygon";
  points({{center.x, center.y - radius},
          {center.x + radius, center.y},
          {center.x, center.y + radius},
          {center.x - radius, center.y}});
  out_ += " fill=\"white\"";
  attributes(stroke);
  out_ += "/>\n";
}

void Drawing::write(Place baseline, std::string_view text, const TextStyle& style) {
  if (text.empty()) return;
  const std::string shown = shortened(text, style.room, style.size, style.bold);
  out_ += "<text x=\"" + length(baseline.x) + "\" y=\"" + length(baseline.y) + "\" font-size=\"" +
          length(style.size) + "\" fill=\"" + escaped(style.colour) + "\"";
  if (style.anchor == Anchor::kMiddle) out_ += " text-anchor=\"middle\"";
  if (style.anchor == Anchor::kEnd) out_ += " text-anchor=\"end\"";
  if (style.bold) out_ += " font-weight=\"600\"";
  if (style.angle != 0) {
    out_ += " transform=\"rotate(" + length(style.angle) + " " + length(baseline.x) + " " +
            length(baseline.y) + ")\"";
  }
  out_ += '>';
  out_ += escaped(shown);
  if (shown != text) out_ += "<title>" + escaped(text) + "</title>";
  out_ += "</text>\n";
}

void Drawing::begin_window(Place corner, double width, double height) {
  const std::string x = length(corner.x);
  const std::string y = length(corner.y);
  const std::string w = length(width);
  const std::string h = length(height);
  out_ += "<svg x=\"" + x + "\" y=\"" + y + "\" width=\"" + w + "\" height=\"" + h +
          "\" viewBox=\"" + x + " " + y + " " + w + " " + h + "\">\n";
}

void Drawing::begin_hint(std::string_view text) {
  out_ += "<g><title>" + escaped(text) + "</title>\n";
}

std::string document(double width, double height, std::string_view label,
                     std::string_view content) {
  const std::string w = length(std::ceil(width));
  const std::string h = length(std::ceil(height));
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
         "\" viewBox=\"0 0 " + w + " " + h +
         "\" font-family=\"sans-serif\" role=\"img\" aria-label=\"" + escaped(label) +
         "\">\n<rect width=\"" + w + "\" height=\"" + h + "\" fill=\"white\"/>\n" +
         std::string(content) + "</svg>\n";
}

}  // namespace lase::svg
