#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "lase/base/option_table.h"

// The flag of an option: --learning-rate for learning_rate.
std::string flag_of(std::string_view option);

// The command-line words that set an option to a value.
std::vector<std::string> flag_words(const lase::OptionInfo& option, const nlohmann::json& value);

// The command-line words that reproduce `options`: positional arguments, then the options that
// differ from their defaults.
template <class T>
std::vector<std::string> command_words(const lase::OptionTable<T>& table, const T& options) {
  std::vector<std::string> words;
  for (const bool positional : {true, false}) {
    for (const auto& option : table.options()) {
      const auto value = option.get(options);
      if (option.info.positional != positional || value == option.info.default_value) continue;
      for (auto& word : flag_words(option.info, value)) words.push_back(std::move(word));
    }
  }
  return words;
}

// Joins the words of lists with commas, "--widths 64 64" to "--widths 64,64", for the command that
// the arguments name. Words that may be positional arguments are left alone.
std::vector<std::string> join_lists(const CLI::App& app, std::vector<std::string> arguments);

// Adds a flag or a positional argument per option. The struct that the options are bound to must
// outlive the command. An invalid value throws OptionError.
void add_flags(CLI::App& command, const lase::BoundOptions& options);
