#include "cli/option_flags.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace {

using lase::OptionKind;
using Strings = std::vector<std::string>;

constexpr const char* kIntegerList = "N,N,...";
constexpr const char* kTextList = "A,B,C";

std::string type_of(const lase::OptionInfo& info) {
  switch (info.kind) {
    case OptionKind::kInteger:
      return "INT";
    case OptionKind::kNumber:
      return "FLOAT";
    case OptionKind::kIntegers:
      return kIntegerList;
    case OptionKind::kTexts:
      return kTextList;
    case OptionKind::kWord:
      return "TEXT:{" + CLI::detail::join(info.words, ",") + "}";
    default:
      return "TEXT";
  }
}

bool is_list(const lase::OptionInfo& info) {
  return info.kind == OptionKind::kIntegers || info.kind == OptionKind::kTexts;
}

// --transductive, or --normalize and --no-normalize if the option is on by default.
void add_switch(CLI::App& command, const lase::BoundOption& option) {
  const std::string& name = option.info.name;
  const bool on = option.info.default_value.get<bool>();
  const std::string names =
      on ? lase::join(flag_of(name), ",!", flag_of("no_" + name)) : flag_of(name);
  CLI::Option* added = command.add_flag_function(
      names, [set = option.set](int64_t count) { set(count > 0); },
      option.info.help + (on ? " (default: on)" : ""));
  if (!option.info.group.empty()) added->group(option.info.group);
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check([info = option.info](const std::string& text) {
        try {
          CLI::detail::to_flag_value(text);
        } catch (const std::logic_error&) {  // from std::stoll
          lase::fail_option(info, text);
        }
        return std::string();
      });
}

void add_value(CLI::App& command, const lase::BoundOption& option) {
  const lase::OptionInfo& info = option.info;
  const std::string name = info.positional ? info.name : flag_of(info.name);
  const auto set = [option](const Strings& texts) {
    std::string text;
    for (size_t i = 0; i < texts.size(); ++i) text += (i > 0 ? "," : "") + texts[i];
    const auto value = lase::option_from_text(option.info, text);
    if (!value) lase::fail_option(option.info, text);
    option.set(*value);
  };
  const bool shows_range = !info.valid.empty() && info.kind != OptionKind::kIntegers;
  const std::string help = info.help + (shows_range ? " [" + info.valid + "]" : "");
  CLI::Option* added = is_list(info)
                           ? command.add_option_function<Strings>(name, set, help)->delimiter(',')
                           : command.add_option_function<std::string>(
                                 name, [set](const std::string& text) { set({text}); }, help);
  if (is_list(info)) added->allow_extra_args(false);
  added->type_name(type_of(info));
  const std::string usual = lase::option_text(info.default_value);
  if (!usual.empty()) added->default_str(usual);
  if (info.required) added->required();
  if (!info.group.empty() && !info.positional) added->group(info.group);
}

}  // namespace

std::string flag_of(std::string_view option) {
  std::string flag = lase::join("--", option);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

Strings flag_words(const lase::OptionInfo& option, const nlohmann::json& value) {
  if (option.positional) return {lase::option_text(value)};
  const std::string flag = flag_of(option.name);
  if (option.kind == OptionKind::kBool) {
    return {value.get<bool>() ? flag : flag_of("no_" + option.name)};
  }
  return {flag, lase::option_text(value)};
}

Strings join_lists(const CLI::App& app, Strings arguments) {
  const CLI::App* command = &app;
  size_t first = 0;
  for (; first < arguments.size(); ++first) {
    const auto named = command->get_subcommands(
        [&](const CLI::App* each) { return each->get_name() == arguments[first]; });
    if (named.empty()) break;
    command = named[0];
  }
  size_t positional = 0;  // options, then words
  for (const auto* option : command->get_options()) positional += option->get_positional() ? 1 : 0;
  const auto is_flag = [](const std::string& word) {
    return word.size() > 1 && word.starts_with('-') && std::isdigit(word[1]) == 0;
  };
  const auto is_number = [](const std::string& word) {
    return word == lase::FanOut::kAll ||
           std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c); });
  };
  Strings joined(arguments.begin(), arguments.begin() + static_cast<int64_t>(first));
  for (size_t i = first; i < arguments.size(); ++i) {
    joined.push_back(arguments[i]);
    if (!is_flag(arguments[i])) {
      positional -= positional > 0 ? 1 : 0;
      continue;
    }
    const auto* option = command->get_option_no_throw(arguments[i]);
    if (option == nullptr || option->get_items_expected_max() == 0 || i + 1 == arguments.size()) {
      continue;
    }
    joined.push_back(arguments[++i]);
    const bool integers = option->get_type_name() == kIntegerList;
    const bool texts = option->get_type_name() == kTextList && positional == 0;
    while ((integers || texts) && i + 1 < arguments.size() && !is_flag(arguments[i + 1]) &&
           (texts || is_number(arguments[i + 1]))) {
      joined.back() += "," + arguments[++i];
    }
  }
  return joined;
}

void add_flags(CLI::App& command, const lase::BoundOptions& options) {
  for (const auto& option : options) {
    if (option.info.kind == OptionKind::kBool) {
      add_switch(command, option);
    } else {
      add_value(command, option);
    }
  }
}
