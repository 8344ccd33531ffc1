#include "report/explanation.h"

#include <gtest/gtest.h>

namespace lase {
namespace {

Explanation example() {
  NeighborEffect anna{
      .node = 1, .name = "Anna <a&b>", .gate = 0.25, .effect = 0.5, .attributes = {}};
  anna.attributes.push_back(
      {.name = "mails", .value = 3, .amplifier_fraction = 0.75, .effect = -0.0625});
  anna.attributes.push_back({.name = "calls", .value = 1, .amplifier_fraction = 0.25, .effect = 0});
  std::string long_name;
  for (int i = 0; i < 40; ++i) long_name += "ü";
  const NeighborEffect other{
      .node = 2, .name = long_name, .gate = 1, .effect = -0.25, .attributes = {}};
  return {.node = "Zoë",
          .output = "sales",
          .predicted = "sales",
          .score = 1.5,
          .probability = 0.8,
          .own = OwnEffects{.bias = 0.125,
                            .features = 0.75,
                            .links = 0.375,
                            .top = {{.name = "age", .value = 41, .effect = 0.3}}},
          .layers = {{.layer = 1, .links = 7, .neighbors = {anna, other}}}};
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Explanation, TextAlignsNamesByCharacterCount) {
  Explanation explanation = example();
  explanation.layers[0].neighbors[1].name = "Übung";
  const std::string text = explanation_text(explanation);
  EXPECT_TRUE(text.starts_with("node Zoë: sales, probability 0.800, logit 1.500\neffect: change "));
  EXPECT_NE(text.find("own features: effect +0.750 (55 %)\n"), text.npos) << text;
  EXPECT_NE(text.find("      age                      = 41.000  effect +0.300 (22 %)\n"),
            text.npos);
  EXPECT_NE(text.find("all own links: effect +0.375 (27 %)\n"), text.npos);
  EXPECT_NE(text.find("both together: effect +1.375 (100 %)\n"), text.npos);
  EXPECT_NE(text.find("and without links 0.125\n"), text.npos);
  EXPECT_NE(text.find("layer 1: 7 links"), text.npos) << text;
  EXPECT_NE(text.find("\n  Anna <a&b>           effect +0.500 (36 %)  gate 0.250\n"), text.npos)
      << text;
  EXPECT_NE(text.find("\n  Übung                effect −0.250 (18 %)  gate 1.000\n"), text.npos)
      << text;
  EXPECT_NE(text.find("\n      mails                    = 3.000  effect −0.062, share 75%\n"),
            text.npos)
      << text;
}

TEST(Explanation, TextNamesTargetsDirectionsAndSmallEffects) {
  Explanation explanation = example();
  explanation.output = "years";
  explanation.probability = 0;
  explanation.layers[0].neighbors[0].effect = -0.0004;
  explanation.layers[0].neighbors[0].attributes[0].name = "out mails";
  const std::string text = explanation_text(explanation, 7.526);
  EXPECT_TRUE(
      text.starts_with("node Zoë: years 7.53 (standardized 1.500)\n"
                       "effect: change of the standardized target due to "))
      << text;
  EXPECT_NE(text.find("; out/in: sent/received by Zoë\n"), text.npos) << text;
  EXPECT_NE(text.find(" effect −4.0e-04 (0 %)  gate 0.250\n"), text.npos) << text;
}

TEST(Explanation, SvgShowsTheNeighborsOfEveryLayer) {
  Explanation explanation = example();
  explanation.layers.push_back({.layer = 2, .links = 1, .neighbors = {}});
  const std::string svg = explanation_svg(explanation);
  EXPECT_NE(svg.find(R"(width="1200" height="520")"), svg.npos);
  EXPECT_NE(svg.find(">layer 1: 2 of 7 links</text>"), svg.npos);
  EXPECT_NE(svg.find(">layer 2: 0 of 1 links</text>"), svg.npos);
  EXPECT_EQ(count(svg, "<line "), 2u);
  EXPECT_EQ(count(svg, "<circle "), 4u);  // two neighbors, and the node in each of two layers
  EXPECT_NE(svg.find(">Anna &lt;a&amp;b&gt;</text>"), svg.npos);
  // The largest effect has the widest line; tooltips have one line per attribute.
  EXPECT_EQ(count(svg, R"(stroke-width="10")"), 1u);
  EXPECT_EQ(count(svg, R"(stroke-width="5.5")"), 1u);
  EXPECT_NE(svg.find("gate 0.250\nmails = 3.000: effect −0.062, share 75%\ncalls = 1"), svg.npos);
}

TEST(Explanation, SvgCutsLongNamesBetweenCharacters) {
  const std::string svg = explanation_svg(example());
  const auto cut = svg.find("…<title>");
  ASSERT_NE(cut, svg.npos);
  EXPECT_EQ(svg.substr(cut - 2, 2), "ü");
  EXPECT_EQ(svg.find("\xEF\xBF\xBD"), svg.npos);  // no invalid UTF-8
}

}  // namespace
}  // namespace lase
