#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/train/trainer.h"

namespace lase {

// An option of training, by its name in train_option_table(), and what it may be.
struct Choice {
  std::string name;
  std::vector<nlohmann::json> values = {};
  // Or any number between, ratios alike; where there are no values.
  double low = 0;
  double high = 0;
  bool whole = false;  // numbers only
};

// "learning_rate=0.003:0.01:0.03", "widths=64,64:128,128" or "learning_rate=0.001..0.03". Throws
// Error where a value is not valid.
Choice choice_from(const std::string& text);

// Random search: the options as they are, then others drawn from the choices, none twice.
std::vector<nlohmann::json> draw_setups(const std::vector<Choice>& choices, int64_t trials,
                                        uint64_t seed);

// What is worth varying in a model, for searches that nobody has given choices.
std::vector<Choice> usual_choices(const std::string& model);

// "learning_rate=0.003 widths=64,64", as choice_from and --config spell them; "as given" for no
// change.
std::string setup_text(const nlohmann::json& changes);

}  // namespace lase
