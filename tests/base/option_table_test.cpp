#include "lase/base/option_table.h"

#include <cmath>
#include <gtest/gtest.h>

#include "support.h"

namespace lase {

enum class Color : uint8_t { kRed, kDarkGreen };
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Color> = {"red", "dark_green"};

namespace {

using nlohmann::json;

struct Inner {
  double rate = 0.5;
  bool loud = true;
};

struct Outer {
  int64_t count = 3;
  uint64_t seed = 1;
  Inner inner{.rate = 0.25};
  Color color = Color::kRed;
  bool gate = true;
  std::vector<int64_t> widths = {4, 2};
  std::vector<int64_t> fanout = {};
  std::vector<std::string> names = {};
  std::string file = {};
  std::optional<float> missing = {};
  std::optional<int64_t> width = {};
};

OptionTable<Outer> table() {
  OptionTable<Inner> inner;
  inner.add("rate", &Inner::rate, positive(10), "Rate");
  inner.add("loud", &Inner::loud, any(), "Loud");
  OptionTable<Outer> table;
  table.add("file", &Outer::file, any(), "File").required().positional();
  table.add("count", &Outer::count, between(1, 9), "Number of things");
  table.add("seed", &Outer::seed, any(), "Seed");
  table.include(inner, &Outer::inner, {.prefix = "inner_"});
  table.add("color", &Outer::color, one_of<Color>(), "Color");
  table.add("gate", &Outer::gate, either("none", "scalar"), "Gate");
  table.add("widths", &Outer::widths, between(1, 100), "Widths");
  table.add("fanout", &Outer::fanout, fanout_or("auto"), "Fan-out");
  table.add("names", &Outer::names, any(), "Names");
  table.add("missing", &Outer::missing, any(), "Value of empty fields");
  table.add("width", &Outer::width, or_auto(between(0, 50)), "Width");
  return table;
}

const Outer kOther{.count = 9,
                   .seed = std::numeric_limits<uint64_t>::max(),
                   .inner = {.rate = 1e-7, .loud = false},
                   .color = Color::kDarkGreen,
                   .gate = false,
                   .widths = {7},
                   .fanout = {-1, 3},
                   .names = {"a", "b"},
                   .file = "x y",
                   .missing = -1.5F,
                   .width = 40};

TEST(OptionTable, WritesReadableJson) {
  EXPECT_EQ(table().to_json({}), json({{"file", ""},
                                       {"count", 3},
                                       {"seed", 1},
                                       {"inner_rate", 0.25},
                                       {"inner_loud", true},
                                       {"color", "red"},
                                       {"gate", "scalar"},
                                       {"widths", {4, 2}},
                                       {"fanout", "auto"},
                                       {"names", json::array()},
                                       {"missing", nullptr},
                                       {"width", "auto"}}));
}

TEST(OptionTable, RoundTripsThroughJsonAndText) {
  const auto all = table();
  const json written = json::parse(all.to_json(kOther).dump());
  EXPECT_EQ(all.to_json(all.from_json(written)), all.to_json(kOther));
  // As on a command line: one option at a time.
  Outer filled;
  for (const auto& option : all.bind(filled)) {
    const auto value = option_from_text(option.info, option_text(written.at(option.info.name)));
    ASSERT_TRUE(value.has_value()) << option.info.name;
    option.set(*value);
  }
  EXPECT_EQ(all.to_json(filled), all.to_json(kOther));
}

TEST(OptionTable, WritesNonDefaultsAsToml) {
  EXPECT_EQ(table().to_toml({}), "");
  EXPECT_EQ(table().to_toml(kOther),
            "file = \"x y\"\ncount = 9\nseed = 18446744073709551615\ninner_rate = 1e-07\n"
            "inner_loud = false\ncolor = \"dark_green\"\ngate = \"none\"\nwidths = [7]\n"
            "fanout = \"all,3\"\nnames = [\"a\", \"b\"]\nmissing = -1.5\nwidth = 40\n");
}

TEST(OptionTable, RejectsUnknownNamesTypesAndValues) {
  const auto expect_rejected = [](const json& changes, std::initializer_list<std::string> parts) {
    expect_error([&] { table().from_json(changes); }, parts);
  };
  expect_rejected({{"colors", 1}}, {"unknown option 'colors'"});
  expect_rejected(json::array(), {"JSON object"});
  expect_rejected({{"count", 0}}, {"count 0: must be from 1 to 9"});
  expect_rejected({{"count", 2.5}}, {"count 2.5: must be an integer"});
  expect_rejected({{"count", std::numeric_limits<uint64_t>::max()}},
                  {"count 18446744073709551615"});
  expect_rejected({{"seed", -1}}, {"seed -1: must be at least 0"});
  expect_rejected({{"inner_rate", 0}}, {"inner_rate 0: must be a positive number up to 10"});
  expect_rejected({{"inner_rate", "fast"}}, {"inner_rate 'fast': must be a number"});
  expect_rejected({{"inner_rate", std::nan("")}}, {"inner_rate nan"});
  expect_rejected({{"inner_loud", 1}}, {"inner_loud 1: must be true or false"});
  expect_rejected({{"color", "blue"}}, {"color 'blue': must be one of red, dark_green"});
  expect_rejected({{"color", 1}}, {"color 1"});
  expect_rejected({{"widths", 3}}, {"widths 3: must be a list of integers, such as 64,48"});
  expect_rejected({{"widths", {3, 0}}}, {"widths '3,0': must be a list of integers from 1 to 100"});
  expect_rejected({{"widths", {3, "4"}}}, {"widths '3,4'"});
  expect_rejected({{"fanout", 0}}, {"fanout 0: must be positive integers, 'all' or 'auto'"});
  expect_rejected({{"fanout", {"all", "some"}}}, {"fanout 'all,some'"});
  expect_rejected({{"fanout", json::array()}}, {"fanout ''"});
  expect_rejected({{"names", {1}}}, {"names '1'"});
  expect_rejected({{"file", 4}}, {"file 4"});
  expect_rejected({{"missing", 1e300}}, {"missing"});
  expect_rejected({{"width", 51}}, {"width 51: must be from 0 to 50"});
  expect_rejected({{"width", "wide"}}, {"width 'wide': must be an integer or 'auto'"});
}

TEST(OptionTable, AcceptsAutoInPlaceOfANumber) {
  const auto all = table();
  const OptionInfo& width = all.at("width");
  EXPECT_EQ(option_from_text(width, "auto"), json("auto"));
  EXPECT_EQ(option_from_text(width, "7"), json(7));
  EXPECT_EQ(option_from_text(width, "wide"), std::nullopt);
  EXPECT_EQ(table().from_json({{"width", 7}}).width, 7);
  EXPECT_EQ(table().from_json({{"width", "auto"}}, kOther).width, std::nullopt);
}

TEST(OptionTable, ChecksStructs) {
  EXPECT_NO_THROW(table().check({}));
  EXPECT_NO_THROW(table().check(kOther));
  EXPECT_THROW(table().check({.count = 10}), OptionError);
  expect_error([] { table().check({.count = 10}); }, {"count 10: must be from 1 to 9"});
  expect_error([] { table().check({.inner = {.rate = INFINITY}}); }, {"inner_rate inf"});
  expect_error([] { table().check({.color = static_cast<Color>(2)}); }, {"color 2"});
  expect_error([] { table().check({.fanout = {0}}); }, {"fanout 0"});
  expect_error([] { table().check({.fanout = {3, -2}}); }, {"fanout '3,-2'"});
}

TEST(OptionTable, TakesDefaultsFromTheEnclosingStruct) {
  EXPECT_EQ(table().at("inner_rate").default_value, 0.25);
  EXPECT_TRUE(table().at("file").positional);
  EXPECT_EQ(table().at("color").words, (Strings{"red", "dark_green"}));
  OptionTable<Inner> twice;
  twice.add("rate", &Inner::rate, any(), "");
  expect_error([&] { twice.add("rate", &Inner::rate, any(), ""); }, {"twice"});
}

TEST(OptionFromText, AcceptsOnlyTheFormOfItsKind) {
  const OptionInfo integer{.name = "n", .help = "", .kind = OptionKind::kInteger};
  EXPECT_EQ(option_from_text(integer, "-3"), json(-3));
  for (const char* bad : {"", "few", "3.5", "3 ", "1e3"}) {
    EXPECT_EQ(option_from_text(integer, bad), std::nullopt) << bad;
  }
  const OptionInfo number{.name = "x", .help = "", .kind = OptionKind::kNumber};
  EXPECT_EQ(option_from_text(number, "1e-3"), json(1e-3));
  EXPECT_EQ(option_from_text(number, "1,5"), std::nullopt);
  const OptionInfo list{.name = "l", .help = "", .kind = OptionKind::kIntegers};
  EXPECT_EQ(option_from_text(list, "4,3"), json({4, 3}));
  EXPECT_EQ(option_from_text(list, "4,"), std::nullopt);
}

TEST(OptionName, IsSpelledByTheCaller) {
  try {
    fail("x: needs ", OptionName{"learning_rate"}, " or ", OptionName{"clip"}, " today");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "x: needs learning_rate or clip today");
    EXPECT_EQ(error.spelled([](std::string_view name) { return join("<", name, ">"); }),
              "x: needs <learning_rate> or <clip> today");
  }
}

}  // namespace
}  // namespace lase
