#include "cli/option_flags.h"

#include <algorithm>
#include <stdexcept>

namespace {

using lase::OptionKind;
using Strings = std::vector<std::string>;

std::string type_of(const lase::OptionInfo& info) {
  switch (info.kind) {
    case OptionKind::kInteger:
      return "INT";
    case OptionKind::kNumber:
      return "FLOAT";
    case OptionKind::kIntegers:
      return "N,N,...";
    case OptionKind::kTexts:
      return "A,B,C";
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

void add_flags(CLI::App& command, const lase::BoundOptions& options) {
  for (const auto& option : options) {
    if (option.info.kind == OptionKind::kBool) {
      add_switch(command, option);
    } else {
      add_value(command, option);
    }
  }
}
