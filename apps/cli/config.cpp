#include "cli/config.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "lase/base/error.h"
#include "lase/base/file.h"

#include "cli/option_flags.h"

namespace {

bool names_flag(const std::string& argument, const std::string& flag) {
  return argument == flag || argument.starts_with(flag + "=");
}

// The option that an argument sets: normalize for --no-normalize; empty if it is not a flag.
std::string option_set_by(const std::string& argument) {
  if (!argument.starts_with("--")) return "";
  std::string name = argument.substr(2, argument.find('=') - 2);
  std::replace(name.begin(), name.end(), '-', '_');
  return name.starts_with("no_") ? name.substr(3) : name;
}

std::vector<std::string> flags_of(const std::string& path, const std::vector<std::string>& given) {
  std::vector<std::string> flags;
  std::vector<CLI::ConfigItem> items;
  std::istringstream text(lase::read_file(path));
  try {
    items = CLI::ConfigTOML().from_config(text);
  } catch (const CLI::Error& error) {
    lase::fail(path, ": cannot be read as TOML: ", error.what());
  }
  for (const auto& item : items) {
    if (item.name == "++" || item.name == "--") continue;  // section markers
    const std::string flag = flag_of(item.name);
    const bool overridden = std::any_of(given.begin(), given.end(), [&](const auto& argument) {
      return option_set_by(argument) == option_set_by(flag);
    });
    if (overridden) continue;
    for (const auto& input : item.inputs) {
      // CLI11 would negate any number.
      const bool negated = flag.starts_with("--no-");
      lase::require_option(!negated || input == "true" || input == "false", path, ": ",
                           lase::OptionName{flag.substr(2)}, " ", lase::quote(input),
                           ": must be true or false");
      flags.push_back(flag + "=" + input);
    }
  }
  return flags;
}

}  // namespace

namespace {

constexpr std::string_view kFlag = "--config";

auto find_config(const std::vector<std::string>& arguments) {
  return std::find_if(arguments.begin(), arguments.end(), [](const auto& argument) {
    return names_flag(argument, std::string(kFlag));
  });
}

}  // namespace

std::string config_file(const std::vector<std::string>& arguments) {
  const auto at = find_config(arguments);
  if (at == arguments.end()) return "";
  if (*at != kFlag) return at->substr(kFlag.size() + 1);  // --config=FILE
  return at + 1 == arguments.end() ? "" : *(at + 1);
}

std::vector<std::string> expand_config(std::vector<std::string> arguments) {
  const std::string path = config_file(arguments);
  if (path.empty()) return arguments;  // the parser reports a missing file name
  const auto flags = flags_of(path, arguments);
  const auto at = find_config(arguments);
  const auto place = arguments.erase(at, at + (*at == kFlag ? 2 : 1));
  arguments.insert(place, flags.begin(), flags.end());
  return arguments;
}
