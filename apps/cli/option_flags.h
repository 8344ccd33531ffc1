#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "lase/base/option_table.h"

// --learning-rate for learning_rate
std::string flag_of(std::string_view option);

// The flags and values that give an option its value, as words of a command line.
std::vector<std::string> flag_words(const lase::OptionInfo& option, const nlohmann::json& value);

// The words of a command line that give `options`: positional arguments, then the options that
// differ from their defaults.
template <class T>
std::vector<std::string> command_words(const lase::OptionTable<T>& table, const T& options) {
  std::vector<std::string> words;
  for (const bool positional : {true, false}) {
    for (const auto& option : table.options()) {
      const auto value = option.get(options);
      if (option.info.positional != positional || value == option.info.usual) continue;
      for (auto& word : flag_words(option.info, value)) words.push_back(std::move(word));
    }
  }
  return words;
}

// A flag for each option; positional ones by their place. The struct that they are bound to must
// outlive the verb. A value of the wrong form is bad usage, one out of range an Error.
void add_flags(CLI::App& verb, const lase::BoundOptions& options);
