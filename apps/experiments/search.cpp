#include "experiments/search.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/random.h"
#include "lase/graph/encode_labels.h"

namespace lase {
namespace {

using nlohmann::json;

// A number, a list of numbers, true, false, or a word.
json value_from(const std::string& text) {
  const json value = json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  const json list = json::parse("[" + text + "]", nullptr, false);
  return list.is_discarded() ? json(text) : list;
}

json drawn(const Choice& choice, Random& random) {
  if (!choice.values.empty()) return choice.values[random.below(choice.values.size())];
  const double value = choice.low * std::pow(choice.high / choice.low, random.uniform());
  if (choice.whole) return static_cast<int64_t>(std::lround(value));
  // Three digits are enough for a person, and for the search.
  const double digit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::round(value / digit) * digit;
}

}  // namespace

Choice choice_from(const std::string& text) {
  const auto equals = text.find('=');
  require(!text.starts_with("seed="), "--vary ", quote(text),
          ": every set-up is tried with the same seeds; --seeds says how many");
  require(equals != std::string::npos && equals > 0 && equals + 1 < text.size(), "--vary ",
          quote(text), ": expected NAME=VALUE:VALUE or NAME=LOW..HIGH");
  Choice choice{.name = text.substr(0, equals)};
  std::replace(choice.name.begin(), choice.name.end(), '-', '_');
  const std::string values = text.substr(equals + 1);
  if (const auto dots = values.find(".."); dots != std::string::npos) {
    const json low = value_from(values.substr(0, dots));
    const json high = value_from(values.substr(dots + 2));
    require(low.is_number() && high.is_number() && low.get<double>() > 0 &&
                high.get<double>() > low.get<double>(),
            "--vary ", quote(text), ": expected two positive numbers, the lower one first");
    choice.whole = low.is_number_integer() && high.is_number_integer();
    choice.low = low.get<double>();
    choice.high = high.get<double>();
    return choice;
  }
  for (const auto part : split_text(values, ":")) {
    json value = value_from(std::string(part));
    // One width is a list too.
    const bool list = choice.name == "widths" || choice.name == "fanout";
    if (list && value.is_number()) value = json::array({value});
    // The words of the flags.
    if (choice.name == "fanout" && value == "all") value = json::array({kWholeNeighborhood});
    if (choice.name == "gate" && (value == "scalar" || value == "none")) value = value == "scalar";
    choice.values.push_back(std::move(value));
  }
  return choice;
}

std::vector<json> draw_setups(const std::vector<Choice>& choices, int64_t trials, uint64_t seed) {
  std::vector<json> setups = {json::object()};
  constexpr int64_t kTries = 100;  // where few choices are left it may take some to find a new one
  for (int64_t i = 0; std::ssize(setups) < trials && i < kTries * trials; ++i) {
    Random random(seed, i);
    json setup = json::object();
    for (const auto& choice : choices) setup[choice.name] = drawn(choice, random);
    if (std::find(setups.begin(), setups.end(), setup) == setups.end()) {
      setups.push_back(std::move(setup));
    }
  }
  return setups;
}

std::vector<Choice> usual_choices(Architecture architecture) {
  std::vector<Choice> choices = {{.name = "learning_rate", .values = {0.003, 0.01, 0.03}},
                                 {.name = "dropout", .values = {0.2, 0.5}}};
  if (architecture == Architecture::kRaw) return choices;
  choices.push_back({.name = "widths", .values = {{64, 64}, {128, 128}}});
  if (architecture == Architecture::kSage || architecture == Architecture::kGraphSage ||
      architecture == Architecture::kConcat) {
    choices.push_back({.name = "combine", .values = {"add", "concat"}});
  }
  return choices;
}

std::string setup_text(const json& changes) {
  std::string text;
  for (const auto& [name, value] : changes.items()) {
    if (!text.empty()) text += ", ";
    text += name + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text.empty() ? "as it is" : text;
}

}  // namespace lase
