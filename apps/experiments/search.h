#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/train/trainer.h"

namespace lase {

// A training option, by its name in train_option_table(), and its candidate values.
struct Choice {
  std::string name;
  std::vector<nlohmann::json> values = {};
  // If `values` is empty: log-uniform in [low, high].
  double low = 0;
  double high = 0;
  bool whole = false;  // round to integers
};

// A training option and its value.
struct OptionSetting {
  std::string name;
  nlohmann::json value;
};
// Parses "widths=64,64". Throws Error if the option is unknown or the value is invalid.
OptionSetting setting_from(const std::string& text);

// Parses "learning_rate=0.003:0.01:0.03", "widths=64,64:128,128" or "learning_rate=0.001..0.03".
// Throws Error if a value is invalid.
Choice choice_from(const std::string& text);

// Random search: first no changes, then random samples of the choices, without repeats.
std::vector<nlohmann::json> sample_configurations(const std::vector<Choice>& choices,
                                                  int64_t trials, uint64_t seed);

// Default search space of a model.
std::vector<Choice> default_choices(const std::string& model);

// "learning_rate=0.003 widths=64,64", in the syntax of choice_from and --config; "as given" if
// nothing changes.
std::string configuration_text(const nlohmann::json& changes);

}  // namespace lase
