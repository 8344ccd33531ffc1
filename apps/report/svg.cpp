#include "report/svg.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "lase/base/utf8.h"

#include "report/markup.h"

namespace lase::svg {
namespace {

// Widths of the characters from space to tilde, in hundredths of the font size.
constexpr std::array<uint8_t, 95> kWidths = {
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 77, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84};

double character_width(char32_t code) {
  if (code >= ' ' && code <= '~') return kWidths[code - ' '] / 100.0;
  if (code >= 0x300 && code < 0x370) return 0;  // combining accents
  if (code < 0x2000) return 0.7;
  return code < 0x2E80 ? 0.88 : 1.05;
}

}  // namespace

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

void Drawing::attributes(const Stroke& stroke) {
  out_ += fmt::format(R"( stroke="{}")", escaped(stroke.color));
  if (stroke.width != 1) out_ += fmt::format(R"( stroke-width="{}")", length(stroke.width));
  if (!stroke.dashes.empty()) {
    out_ += fmt::format(R"( stroke-dasharray="{}")", escaped(stroke.dashes));
  }
  if (stroke.opacity != 1) {
    out_ += fmt::format(R"( stroke-opacity="{}")", short_number(stroke.opacity));
  }
}

void Drawing::points(const std::vector<Place>& places) {
  out_ += R"( points=")";
  for (size_t i = 0; i < places.size(); ++i) {
    if (i > 0) out_ += ' ';
    out_ += fmt::format("{},{}", length(places[i].x), length(places[i].y));
  }
  out_ += '"';
}

void Drawing::line(Place from, Place to, const Stroke& stroke) {
  out_ += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}")", length(from.x), length(from.y),
                      length(to.x), length(to.y));
  attributes(stroke);
  out_ += "/>\n";
}

void Drawing::polyline(const std::vector<Place>& places, const Stroke& stroke) {
  out_ += "<polyline";
  points(places);
  out_ += R"( fill="none" stroke-linejoin="round")";
  attributes(stroke);
  out_ += "/>\n";
}

void Drawing::area(const std::vector<Place>& places, std::string_view color, double opacity) {
  out_ += "<polygon";
  points(places);
  out_ += fmt::format(R"( fill="{}" fill-opacity="{}"/>)", escaped(color), short_number(opacity));
  out_ += '\n';
}

void Drawing::circle(Place center, double radius, std::string_view fill,
                     const std::optional<Stroke>& outline) {
  out_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}" fill="{}")", length(center.x),
                      length(center.y), length(radius), escaped(fill));
  if (outline) attributes(*outline);
  out_ += "/>\n";
}

void Drawing::diamond(Place center, double radius, const Stroke& stroke) {
  out_ += "<polygon";
  points({{center.x, center.y - radius},
          {center.x + radius, center.y},
          {center.x, center.y + radius},
          {center.x - radius, center.y}});
  out_ += R"( fill="white")";
  attributes(stroke);
  out_ += "/>\n";
}

void Drawing::write(Place baseline, std::string_view text, const TextStyle& style) {
  if (text.empty()) return;
  const std::string shown = shortened(text, style.room, style.size, style.bold);
  const std::string x = length(baseline.x);
  const std::string y = length(baseline.y);
  out_ += fmt::format(R"(<text x="{}" y="{}" font-size="{}" fill="{}")", x, y, length(style.size),
                      escaped(style.color));
  if (style.anchor == Anchor::kMiddle) out_ += R"( text-anchor="middle")";
  if (style.anchor == Anchor::kEnd) out_ += R"( text-anchor="end")";
  if (style.bold) out_ += R"( font-weight="600")";
  if (style.angle != 0) {
    out_ += fmt::format(" transform=\"rotate({} {} {})\"", length(style.angle), x, y);
  }
  const std::string whole = shown == text ? "" : fmt::format("<title>{}</title>", escaped(text));
  out_ += fmt::format(">{}{}</text>\n", escaped(shown), whole);
}

void Drawing::begin_window(Place corner, double width, double height) {
  out_ += fmt::format(
      "<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
      "viewBox=\"{0} {1} {2} {3}\">\n",
      length(corner.x), length(corner.y), length(width), length(height));
}

void Drawing::insert(Place origin, std::string_view drawing) {
  out_ += fmt::format("<g transform=\"translate({},{})\">\n{}</g>\n", length(origin.x),
                      length(origin.y), drawing);
}

void Drawing::begin_hint(std::string_view text) {
  out_ += "<g><title>";
  for (auto end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    out_ += escaped(text.substr(0, end)) + "\n";
    text.remove_prefix(end + 1);
  }
  out_ += escaped(text) + "</title>\n";
}

std::string document(double width, double height, std::string_view label,
                     std::string_view content) {
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" )"
                     R"(viewBox="0 0 {0} {1}" font-family="sans-serif" role="img" aria-label="{2}">
<rect width="{0}" height="{1}" fill="white"/>
{3}</svg>
)",
                     length(std::ceil(width)), length(std::ceil(height)), escaped(label), content);
}

}  // namespace lase::svg
