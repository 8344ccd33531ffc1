// Charts, parsed back as XML: positions of elements, and that no text overlaps another.

#include "report/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "lase/base/error.h"

#include "support.h"

namespace lase {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text = {};  // without the text of child elements
  double dx = 0;          // translation by the enclosing groups
  double dy = 0;

  double number(const std::string& key) const { return std::atof(attributes.at(key).c_str()); }
  std::string get(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : found->second;
  }
};

// Parses the subset of XML that charts use; anything else fails the test.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {
    while (!rest_.empty() && !testing::Test::HasFatalFailure()) step();
    EXPECT_TRUE(open_.empty()) << "not closed: " << (open_.empty() ? "" : at(open_.back()).name);
  }

  const std::vector<Element>& elements() const { return elements_; }

 private:
  Element& at(size_t i) { return elements_[i]; }

  std::string until(std::string_view end) {
    const auto place = rest_.find(end);
    EXPECT_NE(place, std::string_view::npos) << "not found: " << end;
    std::string found(rest_.substr(0, place));
    rest_.remove_prefix(std::min(rest_.size(), found.size() + end.size()));
    return found;
  }

  static std::string unescaped(std::string text) {
    const std::vector<std::pair<std::string, std::string>> entities = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}};
    EXPECT_EQ(text.find('<'), std::string::npos) << text;
    for (const auto& [entity, character] : entities) {
      for (auto i = text.find(entity); i != std::string::npos; i = text.find(entity)) {
        text.replace(i, entity.size(), character);
      }
    }
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
      result += text[i];
      if (text[i] != '&') continue;
      EXPECT_EQ(text.substr(i, 5), "&amp;") << text;
      i += 4;
    }
    return result;
  }

  void step() {
    std::string between(rest_.substr(0, rest_.find('<')));
    rest_.remove_prefix(between.size());
    if (open_.empty()) {
      EXPECT_EQ(between.find_first_not_of('\n'), std::string::npos);
    } else {
      at(open_.back()).text += unescaped(between);
    }
    if (rest_.empty()) return;
    rest_.remove_prefix(1);
    std::string tag = until(">");
    if (tag[0] == '/') {
      ASSERT_FALSE(open_.empty()) << tag;
      ASSERT_EQ(at(open_.back()).name, tag.substr(1));
      open_.pop_back();
      return;
    }
    const bool whole = tag.back() == '/';
    if (whole) tag.pop_back();
    begin(tag);
    if (!whole) open_.push_back(elements_.size() - 1);
  }

  void begin(std::string_view tag) {
    Element element;
    if (!open_.empty()) {
      element.dx = at(open_.back()).dx;
      element.dy = at(open_.back()).dy;
    }
    element.name = tag.substr(0, tag.find(' '));
    tag.remove_prefix(element.name.size());
    while (!tag.empty()) {
      const auto equals = tag.find("=\"");
      ASSERT_NE(equals, std::string_view::npos) << tag;
      const auto end = tag.find('"', equals + 2);
      ASSERT_NE(end, std::string_view::npos) << tag;
      const std::string key(tag.substr(1, equals - 1));
      ASSERT_FALSE(element.attributes.contains(key)) << key << " twice";
      element.attributes[key] = unescaped(std::string(tag.substr(equals + 2, end - equals - 2)));
      tag.remove_prefix(end + 1);
    }
    const std::string move = element.get("transform");
    if (move.starts_with("translate(")) {
      element.dx += std::atof(move.c_str() + 10);
      element.dy += std::atof(move.c_str() + move.find(',') + 1);
    }
    elements_.push_back(element);
  }

  std::string_view rest_;
  std::vector<Element> elements_;
  std::vector<size_t> open_;
};

std::vector<Element> read(const std::string& picture) {
  EXPECT_EQ(picture.find("nan"), std::string::npos);
  EXPECT_EQ(picture.find("inf"), std::string::npos);
  return Reader(picture).elements();
}

std::vector<Element> all(const std::vector<Element>& elements, const std::string& name) {
  std::vector<Element> found;
  for (const Element& element : elements) {
    if (element.name == name) found.push_back(element);
  }
  return found;
}

Element text_of(const std::vector<Element>& elements, const std::string& text) {
  for (const Element& element : elements) {
    if (element.name == "text" && element.text == text) return element;
  }
  ADD_FAILURE() << "text not found: " << text;
  return {.name = "text", .attributes = {{"x", "0"}, {"y", "0"}, {"font-size", "0"}}};
}

bool has_text(const std::vector<Element>& elements, const std::string& text) {
  return std::any_of(elements.begin(), elements.end(), [&](const Element& element) {
    return element.name == "text" && element.text == text;
  });
}

struct Spot {
  double x = 0;
  double y = 0;
};

std::vector<Spot> points(const Element& element) {
  std::vector<Spot> found;
  const std::string text = element.get("points");
  const char* at = text.c_str();
  while (*at != 0) {
    char* end = nullptr;
    const double x = std::strtod(at, &end);
    const double y = std::strtod(end + 1, &end);
    found.push_back({x, y});
    at = end;
  }
  return found;
}

struct Box {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
  std::string text;
};

Box box_of(const Element& element) {
  const double size = element.number("font-size");
  const double width = svg::text_width(element.text, size, !element.get("font-weight").empty());
  const std::string anchor = element.get("text-anchor");
  const double share = anchor == "end" ? 1 : anchor == "middle" ? 0.5 : 0;
  const double left = element.dx + element.number("x") - share * width;
  const double y = element.dy + element.number("y");
  return {.left = left,
          .right = left + width,
          .top = y - 0.75 * size,
          .bottom = y + 0.1 * size,
          .text = element.text};
}

// No text overlaps another or extends beyond the picture.
void expect_tidy(const std::string& picture) {
  const auto elements = read(picture);
  const double width = elements[0].number("width");
  const double height = elements[0].number("height");
  std::vector<Box> boxes;
  for (const Element& element : all(elements, "text")) {
    if (element.get("transform").empty()) boxes.push_back(box_of(element));
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box& a = boxes[i];
    EXPECT_TRUE(a.left >= 0 && a.right <= width && a.top >= 0 && a.bottom <= height)
        << a.text << " extends beyond the picture: " << a.left << " to " << a.right;
    for (size_t j = 0; j < i; ++j) {
      const Box& b = boxes[j];
      EXPECT_TRUE(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top)
          << a.text << " overlaps " << b.text;
    }
  }
}

// The x axis.
Element axis_of(const std::vector<Element>& elements) {
  for (const Element& element : all(elements, "line")) {
    if (element.get("stroke") == "#98A1AE" && element.number("y1") == element.number("y2")) {
      return element;
    }
  }
  ADD_FAILURE() << "axis not found";
  return {};
}

LineChart curves(size_t count, const std::string& name) {
  LineChart chart{.title = "Curves", .x_label = "epoch", .y_label = "score"};
  for (size_t s = 0; s < count; ++s) {
    Series series{.name = name + " " + std::to_string(s + 1)};
    for (int i = 0; i < 40; ++i) {
      series.y.push_back(0.8 - 0.002 * static_cast<double>(s) - 0.3 * std::exp(-i / 5.0));
      series.error.push_back(0.01);
    }
    chart.series.push_back(series);
  }
  return chart;
}

DotPlot dots(size_t rows, size_t panels) {
  DotPlot plot{.title = "Scores"};
  for (size_t i = 0; i < rows; ++i) {
    plot.rows.push_back({.name = "model number " + std::to_string(i), .apart = i == rows / 2});
  }
  for (size_t p = 0; p < panels; ++p) {
    DotPanel panel{.title = "data set " + std::to_string(p)};
    for (size_t i = 0; i < rows; ++i) {
      const double value = 0.8 - 0.01 * static_cast<double>(i) - 0.05 * static_cast<double>(p);
      panel.scores.push_back({.value = value, .error = 0.004, .paper = value - 0.03});
    }
    plot.panels.push_back(panel);
  }
  return plot;
}

TEST(Svg, FormatsShortNumbers) {
  EXPECT_EQ(svg::fixed(0.12345, 3), "0.123");
  EXPECT_EQ(svg::fixed(-2, 1), "−2.0");
  EXPECT_EQ(svg::fixed(-0.0001, 2), "0.00");
  EXPECT_EQ(svg::short_number(0.1 + 0.2), "0.3");
  EXPECT_EQ(svg::short_number(1500), "1500");
  EXPECT_EQ(svg::short_number(20000), "20k");
  EXPECT_EQ(svg::short_number(-1.5e6), "−1.5M");
  EXPECT_EQ(svg::short_number(3e9), "3G");
  EXPECT_EQ(svg::short_number(2e-7), "2e−7");
  EXPECT_EQ(svg::length(12), "12");
  EXPECT_EQ(svg::length(12.345), "12.3");
  EXPECT_EQ(svg::length(-0.01), "0");
}

Strings tick_texts(const std::vector<svg::Tick>& ticks) {
  Strings texts;
  for (const svg::Tick& tick : ticks) texts.push_back(tick.text);
  return texts;
}

TEST(Svg, ChoosesRoundTicks) {
  EXPECT_EQ(tick_texts(svg::nice_ticks(0.56, 0.81, 3)), (Strings{"0.6", "0.7", "0.8"}));
  EXPECT_EQ(tick_texts(svg::nice_ticks(0.56, 0.72, 4)), (Strings{"0.60", "0.65", "0.70"}));
  EXPECT_EQ(tick_texts(svg::nice_ticks(-1, 1, 5)), (Strings{"−1.0", "−0.5", "0", "0.5", "1.0"}));
  EXPECT_EQ(tick_texts(svg::nice_ticks(0, 30000, 3)), (Strings{"0", "10k", "20k", "30k"}));
  EXPECT_EQ(tick_texts(svg::nice_ticks(0, 2e-6, 2)), (Strings{"0", "1e−6", "2e−6"}));
  EXPECT_EQ(tick_texts(svg::log_ticks(1, 100, 10)),
            (Strings{"1", "2", "5", "10", "20", "50", "100"}));
  EXPECT_EQ(tick_texts(svg::log_ticks(1, 100, 4)), (Strings{"1", "10", "100"}));
  EXPECT_EQ(tick_texts(svg::log_ticks(1e-2, 1e9, 4)), (Strings{"1", "1000", "1M", "1G"}));
  EXPECT_EQ(svg::nice_ticks(3, 3, 5).size(), 1);
  EXPECT_GE(svg::log_ticks(11, 14, 5).size(), 2);
  for (const double size : {1e-12, 1e-3, 7., 1e8}) {
    const auto ticks = svg::nice_ticks(0.3 * size, 1.1 * size, 6);
    EXPECT_GE(ticks.size(), 3);
    EXPECT_LE(ticks.size(), 9);
  }
}

TEST(Svg, ShortensAndWrapsText) {
  const std::string text = "a long näme of a thing";
  EXPECT_EQ(svg::shortened(text, 1000, 11), text);
  const std::string part = svg::shortened(text, 60, 11);
  EXPECT_TRUE(part.ends_with("…"));
  EXPECT_LE(svg::text_width(part, 11), 60);
  EXPECT_TRUE(svg::wrapped("", 100, 11).empty());
  EXPECT_EQ(svg::wrapped("one two  three", 45, 11), (Strings{"one two", "three"}));
  EXPECT_LE(svg::text_width(svg::wrapped("unbreakableword", 50, 11).at(0), 11), 50);
}

TEST(LineChart, PlacesValuesAccordingToTheAxes) {
  const LineChart chart{.series = {{.name = "s", .x = {0, 5, 10}, .y = {0, 0.25, 1}}},
                        .x_range = Range{0, 10},
                        .y_range = Range{0, 1}};
  const auto elements = read(svg_picture(chart));
  const Element axis = axis_of(elements);
  const auto line = points(all(elements, "polyline").at(0));
  ASSERT_EQ(line.size(), 3);
  EXPECT_NEAR(line[0].x, axis.number("x1"), 0.11);
  EXPECT_NEAR(line[0].y, axis.number("y1"), 0.11);
  EXPECT_NEAR(line[1].x, (axis.number("x1") + axis.number("x2")) / 2, 0.11);
  EXPECT_NEAR(line[2].x, axis.number("x2"), 0.11);
  EXPECT_NEAR(line[0].y - line[1].y, 0.25 * (line[0].y - line[2].y), 0.2);
  // Tick labels: the baseline is 0.36 font sizes below the value.
  const Element one = text_of(elements, "1.0");
  EXPECT_NEAR(one.number("y"), line[2].y + 0.36 * one.number("font-size"), 0.2);
  EXPECT_NEAR(text_of(elements, "10").number("x"), line[2].x, 0.11);
}

TEST(LineChart, SpacesEqualRatiosEquallyOnALogAxis) {
  const LineChart chart{.series = {{.x = {1, 10, 100, 0, -5}, .y = {1, 2, 3, 4, 5}}},
                        .x_log = true};
  const auto elements = read(svg_picture(chart));
  const auto line = points(all(elements, "polyline").at(0));
  ASSERT_EQ(line.size(), 3) << "values that are not positive are not drawn";
  EXPECT_NEAR(line[1].x - line[0].x, line[2].x - line[1].x, 0.2);
}

TEST(LineChart, DrawsPlusMinusOneStandardError) {
  LineChart chart{.series = {{.y = {1, 2, 3}, .error = {0.5, 0.5, 1}}}, .y_range = Range{0, 4}};
  chart.errors = ErrorStyle::kBand;
  const auto band = read(svg_picture(chart));
  const auto line = points(all(band, "polyline").at(0));
  const auto around = points(all(band, "polygon").at(0));
  ASSERT_EQ(around.size(), 6);
  const double unit = line[0].y - line[1].y;
  EXPECT_NEAR(around[2].y, line[2].y - unit, 0.2);
  EXPECT_NEAR(around[3].y, line[2].y + unit, 0.2);
  EXPECT_NEAR(around[5].y, line[0].y + unit / 2, 0.2);

  chart.errors = ErrorStyle::kAutomatic;  // three points
  const auto whiskers = read(svg_picture(chart));
  EXPECT_TRUE(all(whiskers, "polygon").empty());
  const auto lines = all(whiskers, "line");
  const auto is_third = [&](const Element& element) {
    return std::abs(element.number("x1") - line[2].x) < 0.2 &&
           std::abs(element.number("y1") - (line[2].y - unit)) < 0.2 &&
           std::abs(element.number("y2") - (line[2].y + unit)) < 0.2;
  };
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_third), 1);
}

TEST(LineChart, LeavesGapsForMissingValues) {
  Series series{.name = "gaps", .y = std::vector<double>(50, 0.5)};
  series.error.assign(50, 0.1);
  series.y[10] = kNan;
  series.y[12] = std::numeric_limits<double>::infinity();
  series.y[30] = kNan;
  series.error[40] = kNan;
  const auto elements =
      read(svg_picture(LineChart{.series = {series}, .legend = LegendPlace::kNone}));
  std::vector<size_t> lengths;
  for (const Element& line : all(elements, "polyline")) lengths.push_back(points(line).size());
  EXPECT_EQ(lengths, (std::vector<size_t>{10, 17, 19}));
  EXPECT_EQ(all(elements, "circle").size(), 1) << "a single point between gaps";
  EXPECT_EQ(all(elements, "polygon").size(), 5) << "bands";
}

TEST(LineChart, ClipsToItsRange) {
  const LineChart chart{.series = {{.name = "s", .y = {0.1, 0.5, 5}}}, .y_range = Range{0.4, 0.6}};
  const auto elements = read(svg_picture(chart));
  const auto windows = all(elements, "svg");
  ASSERT_EQ(windows.size(), 2);
  const double bottom = windows[1].number("y") + windows[1].number("height");
  EXPECT_NEAR(bottom, axis_of(elements).number("y1"), 1.1);
  EXPECT_EQ(windows[1].get("viewBox"), windows[1].get("x") + " " + windows[1].get("y") + " " +
                                           windows[1].get("width") + " " +
                                           windows[1].get("height"));
  EXPECT_TRUE(has_text(elements, "s"));
}

TEST(LineChart, NamesLinesAtTheirEndsInOrder) {
  const LineChart chart = curves(12, "model");
  const auto elements = read(svg_picture(chart));
  double last = 0;
  for (size_t s = 1; s <= 12; ++s) {
    const Element name = text_of(elements, "model " + std::to_string(s));
    EXPECT_GT(name.number("x"), axis_of(elements).number("x2"));
    EXPECT_GE(name.number("y"), last + 12.9);
    last = name.number("y");
  }
}

TEST(LineChart, NamesLinesBelowIfNamesDoNotFitAtTheEnds) {
  for (LineChart chart : {curves(40, "m"), curves(3, "a name that is far too long for the side")}) {
    const auto elements = read(svg_picture(chart));
    const Element name = text_of(elements, chart.series[2].name);
    EXPECT_GT(name.number("y"), axis_of(elements).number("y1"));
    expect_tidy(svg_picture(chart));
    chart.legend = LegendPlace::kLineEnds;
    expect_tidy(svg_picture(chart));
  }
}

TEST(LineChart, UsesThePaletteUnlessColorsAreGiven) {
  LineChart chart = curves(12, "m");
  chart.series[1].color = "#123456";
  const auto lines = all(read(svg_picture(chart)), "polyline");
  EXPECT_EQ(lines[0].get("stroke"), svg::kPalette[0]);
  EXPECT_EQ(lines[1].get("stroke"), "#123456");
  EXPECT_EQ(lines[0].get("stroke-dasharray"), "");
  EXPECT_NE(lines[8].get("stroke-dasharray"), "") << "the palette repeats";
}

TEST(LineChart, DrawsAndNamesReferences) {
  LineChart chart = curves(1, "m");
  chart.references = {{.value = 0.9, .name = "whole neighborhoods"}, {.value = kNan, .name = "no"}};
  const auto elements = read(svg_picture(chart));
  EXPECT_TRUE(has_text(elements, "whole neighborhoods"));
  EXPECT_FALSE(has_text(elements, "no"));
}

TEST(LineChart, AcceptsCustomTickLabels) {
  LineChart chart{.series = {{.y = {1, 2, 3}}}};
  chart.x_ticks = {
      {.value = 1, .text = "one"}, {.value = 2, .text = "two"}, {.value = 9, .text = "nine"}};
  const auto elements = read(svg_picture(chart));
  EXPECT_LT(text_of(elements, "one").number("x"), text_of(elements, "two").number("x"));
  EXPECT_TRUE(has_text(elements, "nine"));
  EXPECT_EQ(text_of(elements, "two").get("transform"), "");
  for (svg::Tick& tick : chart.x_ticks) tick.text += ", a text that is far too long for one line";
  const auto tilted = all(read(svg_picture(chart)), "text");
  EXPECT_EQ(
      std::count_if(tilted.begin(), tilted.end(),
                    [](const Element& e) { return e.get("transform").starts_with("rotate"); }),
      3);
}

TEST(LineChart, RejectsInconsistentSeries) {
  expect_error(
      [] {
        draw(LineChart{.series = {{.name = "s", .x = {1, 2}, .y = {1}}}});
      },
      {"'s'", "2 x values", "1 y values"});
  expect_error(
      [] {
        draw(LineChart{.series = {{.name = "s", .y = {1, 2}, .error = {1}}}});
      },
      {"'s'", "1 errors", "2 values"});
  expect_error([] { draw(LineChart{.y_range = Range{1, 1}}); }, {"range"});
  expect_error([] { draw(LineChart{.x_log = true, .x_range = Range{0, 1}}); }, {"logarithmic"});
}

TEST(DotPlot, DrawsDotsWhiskersAndDiamondsOnOneScale) {
  const DotPlot plot{
      .rows = {{.name = "a"}, {.name = "b", .color = "#010203"}},
      .panels = {{.title = "p",
                  .scores = {{.value = 0.5, .error = 0.1, .paper = 0.25}, {.value = 1}},
                  .x_range = Range{0, 1}}}};
  const auto elements = read(svg_picture(plot));
  const Element axis = axis_of(elements);
  const double left = axis.number("x1");
  const double width = axis.number("x2") - left;
  const auto circles = all(elements, "circle");
  ASSERT_EQ(circles.size(), 3);  // the first is in the legend
  EXPECT_NEAR(circles[1].number("cx"), left + 0.5 * width, 0.2);
  EXPECT_NEAR(circles[2].number("cx"), left + width, 0.2);
  EXPECT_EQ(circles[2].get("fill"), "#010203");
  const auto diamonds = all(elements, "polygon");
  ASSERT_EQ(diamonds.size(), 2);
  EXPECT_NEAR(points(diamonds[1])[0].x, left + 0.25 * width, 0.2);
  EXPECT_NEAR(points(diamonds[1])[1].y, circles[1].number("cy"), 0.2);
  const auto lines = all(elements, "line");
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [&](const Element& line) {
                            return std::abs(line.number("x1") - (left + 0.4 * width)) < 0.2 &&
                                   std::abs(line.number("x2") - (left + 0.6 * width)) < 0.2;
                          }),
            1);
  EXPECT_TRUE(has_text(elements, "0.500 ± 0.100"));
  EXPECT_EQ(text_of(elements, "1.000").get("font-weight"), "600") << "the best";
  EXPECT_EQ(text_of(elements, "0.500 ± 0.100").get("font-weight"), "");
}

TEST(DotPlot, OmitsMissingScores) {
  DotPlot plot = dots(3, 1);
  plot.panels[0].scores[1] = {};
  plot.panels[0].scores[2].value = kNan;
  const auto elements = read(svg_picture(plot));
  EXPECT_EQ(all(elements, "circle").size(), 2);   // including the legend
  EXPECT_EQ(all(elements, "polygon").size(), 3);  // including the legend
  EXPECT_TRUE(has_text(elements, "–"));
  plot.panels[0].scores = {{}, {}, {}};
  const auto nothing = read(svg_picture(plot));
  EXPECT_TRUE(all(nothing, "circle").empty());
  EXPECT_FALSE(has_text(nothing, "paper"));
}

TEST(DotPlot, RejectsScoresThatDoNotMatchTheRows) {
  DotPlot plot = dots(3, 1);
  plot.rows.pop_back();
  expect_error([&] { draw(plot); }, {"data set 0", "3 scores", "2 rows"});
}

TEST(Charts, HaveNoOverlappingText) {
  expect_tidy(svg_picture(curves(12, "model number")));
  expect_tidy(svg_picture(dots(9, 4)));
  DotPlot wide = dots(9, 4);
  wide.width = 1200;
  expect_tidy(svg_picture(wide));
  DotPlot long_names = dots(9, 4);
  for (DotRow& row : long_names.rows) row.name += ", with much more text than fits in the column";
  for (DotPanel& panel : long_names.panels)
    panel.title += " has a long name, longer than its panel";
  expect_tidy(svg_picture(long_names));
  LineChart chart = curves(5, "m");
  chart.title =
      "A title with so many words that it takes more than a single line, or even than two";
  chart.width = 260;
  chart.height = 180;
  const std::vector<Panel> nine(9, chart);
  expect_tidy(svg_panels(nine, {.title = "Nine", .subtitle = "panels"}));
  expect_tidy(svg_panels(nine, {.title = "Nine", .shared_legend = true}));
}

TEST(Charts, MayBeEmpty) {
  expect_tidy(svg_picture(LineChart{}));
  expect_tidy(svg_picture(LineChart{.series = {{.name = "empty"}}}));
  expect_tidy(
      svg_picture(LineChart{.series = {{.name = "missing", .y = {kNan, kNan}}}, .x_log = true}));
  expect_tidy(svg_picture(LineChart{.series = {{.name = "one", .y = {0}}}}));
  expect_tidy(svg_picture(LineChart{.series = {{.name = "same", .y = {7, 7, 7}}}}));
  expect_tidy(svg_picture(DotPlot{}));
  expect_tidy(svg_picture(DotPlot{.rows = {{.name = "row"}}}));
  expect_tidy(svg_picture(DotPlot{.panels = {{.title = "panel"}}}));
  expect_tidy(svg_panels({}, {.title = "none"}));
}

TEST(Charts, EscapeUntrustedText) {
  const std::string name = "<b>&\"'</b>\x02";
  LineChart chart = curves(2, name);
  chart.title = chart.x_label = chart.y_label = name;
  chart.series[0].color = "\"/><script>";
  chart.references = {{.value = 0.5, .name = name}};
  chart.x_ticks = {{.value = 1, .text = name}};
  DotPlot plot = dots(2, 1);
  plot.title = plot.x_label = plot.value_name = plot.paper_name = name;
  plot.rows[0] = {.name = name, .color = name};
  plot.panels[0].title = name;
  const auto elements =
      read(svg_panels(std::vector<Panel>{chart, plot}, {.title = name, .subtitle = name}));
  EXPECT_TRUE(all(elements, "b").empty());
  EXPECT_TRUE(all(elements, "script").empty());
  EXPECT_TRUE(has_text(elements, "<b>&\"'</b>  1"));
}

TEST(Panels, AlignTheirAxes) {
  LineChart large = curves(2, "m");
  for (Series& series : large.series) {
    for (double& y : series.y) y *= 1000;
  }
  large.title += " in a row that has a title of more than one line, unlike the others of its row";
  const std::vector<Panel> panels = {curves(2, "a longer name"), large, large, curves(2, "m")};
  const auto elements = read(svg_panels(panels, {.columns = 2}));
  std::vector<Spot> corner;
  for (const Element& element : all(elements, "svg")) {
    if (!element.get("viewBox").starts_with("0 0 ")) {
      corner.push_back({element.dx + element.number("x"), element.dy + element.number("y")});
    }
  }
  ASSERT_EQ(corner.size(), 4);
  EXPECT_NEAR(corner[0].x, corner[2].x, 0.11);
  EXPECT_NEAR(corner[1].x, corner[3].x, 0.11);
  EXPECT_NEAR(corner[0].y, corner[1].y, 0.11);
  EXPECT_NEAR(corner[2].y, corner[3].y, 0.11);
}

TEST(Panels, ShareALegend) {
  LineChart first = curves(2, "m");
  LineChart second = curves(3, "m");
  std::swap(second.series[0], second.series[2]);  // m 3, m 2, m 1
  const auto elements =
      read(svg_panels(std::vector<Panel>{first, second}, {.shared_legend = true}));
  const auto texts = all(elements, "text");
  for (const std::string name : {"m 1", "m 2", "m 3"}) {
    EXPECT_EQ(std::count_if(texts.begin(), texts.end(),
                            [&](const Element& text) { return text.text == name; }),
              1);
  }
  const auto lines = all(elements, "polyline");
  ASSERT_EQ(lines.size(), 5);
  EXPECT_EQ(lines[0].get("stroke"), lines[4].get("stroke"));
  EXPECT_EQ(lines[1].get("stroke"), lines[3].get("stroke"));
  EXPECT_NE(lines[2].get("stroke"), lines[4].get("stroke"));
}

TEST(Panels, AcceptFragments) {
  const Fragment fragment{.content = "<circle r=\"7\"/>\n", .width = 300, .height = 200};
  const auto elements = read(svg_panels(std::vector<Panel>{fragment, fragment}, {.columns = 1}));
  const auto circles = all(elements, "circle");
  ASSERT_EQ(circles.size(), 2);
  EXPECT_GE(circles[1].dy - circles[0].dy, 200);
  EXPECT_GE(elements[0].number("width"), 300);
  EXPECT_GE(elements[0].number("height"), 400);
  expect_error([] { svg_panels({}, {.columns = 0}); }, {"0 columns"});
}

}  // namespace
}  // namespace lase
