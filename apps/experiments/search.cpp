#include "experiments/search.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/random.h"
#include "lase/graph/encode_labels.h"
#include "lase/model/layers/registry.h"

namespace lase {
namespace {

using nlohmann::json;

// Parses the value of an option; throws Error if it is invalid.
json value_from(const OptionInfo& option, const std::string& text) {
  const auto value = option_from_text(option, text);
  if (!value) fail_option(option, text);
  const auto& table = train_option_table();
  return table.to_json(table.from_json({{option.name, *value}})).at(option.name);
}

// Sampled numbers have three significant digits, up to rounding.
std::string short_text(const json& value) {
  if (!value.is_number_float()) return option_text(value);
  const double exact = value.get<double>();
  const std::string text = significant(exact, 3);
  return std::abs(std::stod(text) - exact) <= 1e-9 * std::abs(exact) ? text : option_text(value);
}

json sampled(const Choice& choice, Random& random) {
  if (!choice.values.empty()) return choice.values[random.below(choice.values.size())];
  const double value = choice.low * std::pow(choice.high / choice.low, random.uniform());
  if (choice.whole) return static_cast<int64_t>(std::lround(value));
  // Three significant digits keep the values readable.
  const double digit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::round(value / digit) * digit;
}

// NAME and VALUE of NAME=VALUE.
struct Assignment {
  std::string name;
  std::string value;
};

Assignment assignment_from(const std::string& text, const char* expected) {
  const auto equals = text.find('=');
  require(!text.starts_with("seed="),
          "the seed cannot be varied: all configurations use the same seeds; set their number with "
          "--seeds");
  require(equals != std::string::npos && equals > 0 && equals + 1 < text.size(), "expected ",
          expected);
  std::string name = text.substr(0, equals);
  std::replace(name.begin(), name.end(), '-', '_');
  return {std::move(name), text.substr(equals + 1)};
}

}  // namespace

OptionSetting setting_from(const std::string& text) {
  const auto [name, value] = assignment_from(text, "NAME=VALUE");
  return {name, value_from(train_option_table().at(name), value)};
}

Choice choice_from(const std::string& text) try {
  const auto [name, values] = assignment_from(text, "NAME=VALUE:VALUE or NAME=LOW..HIGH");
  Choice choice{.name = name};
  const OptionInfo& option = train_option_table().at(choice.name);
  if (const auto dots = values.find(".."); dots != std::string::npos) {
    const json low = value_from(option, values.substr(0, dots));
    const json high = value_from(option, values.substr(dots + 2));
    require(low.is_number() && high.is_number() && low.get<double>() > 0 &&
                high.get<double>() > low.get<double>(),
            "expected two positive numbers, the smaller one first");
    choice.whole = option.kind == OptionKind::kInteger;
    choice.low = low.get<double>();
    choice.high = high.get<double>();
    return choice;
  }
  for (const auto part : split_text(values, ":")) {
    choice.values.push_back(value_from(option, std::string(part)));
  }
  return choice;
} catch (const Error& error) {
  throw OptionError(join("--vary ", quote(text), ": ", error.what()));
}

std::vector<json> sample_configurations(const std::vector<Choice>& choices, int64_t trials,
                                        uint64_t seed) {
  std::vector<json> configurations = {json::object()};
  constexpr int64_t kTries = 100;  // attempts per trial; new combinations become rare
  for (int64_t i = 0; std::ssize(configurations) < trials && i < kTries * trials; ++i) {
    Random random(seed, i);
    json configuration = json::object();
    for (const auto& choice : choices) configuration[choice.name] = sampled(choice, random);
    if (std::find(configurations.begin(), configurations.end(), configuration) ==
        configurations.end()) {
      configurations.push_back(std::move(configuration));
    }
  }
  return configurations;
}

std::vector<Choice> default_choices(const std::string& model) {
  std::vector<Choice> choices = {{.name = "learning_rate", .values = {0.003, 0.01, 0.03}},
                                 {.name = "dropout", .values = {0.2, 0.5}}};
  const LayerType& type = layer_type(model);
  if (!type.make) return choices;
  choices.push_back({.name = "widths", .values = {{64, 64}, {128, 128}}});
  if (type.combines) choices.push_back({.name = "combine", .values = {"add", "concat"}});
  return choices;
}

std::string configuration_text(const json& changes) {
  std::string text;
  for (const auto& [name, value] : changes.items()) {
    text += join(text.empty() ? "" : " ", name, "=", short_text(value));
  }
  return text.empty() ? "(given options)" : text;
}

}  // namespace lase
