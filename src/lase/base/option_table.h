#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lase/base/option.h"

namespace lase {

// An option bound to one struct instance, with the type erased, e.g. for a command line.
struct BoundOption {
  OptionInfo info;
  std::function<nlohmann::json()> get;
  std::function<void(const nlohmann::json&)> set;  // throws Error if invalid
};
using BoundOptions = std::vector<BoundOption>;

// Removes the options with these names.
inline BoundOptions without(BoundOptions options, const std::set<std::string>& names) {
  std::erase_if(options, [&](const auto& option) { return names.contains(option.info.name); });
  return options;
}

// Names of a member's options in the table of the enclosing struct.
struct IncludeAs {
  std::string prefix = {};
  std::map<std::string, std::string> rename = {};  // replaces the prefix
  std::set<std::string> skip = {};
};

// The options of a struct T, each declared once: name, member, valid values, help. Defaults are the
// values of T{}. Flags, JSON, TOML, range checks and documentation are derived from the table.
//
//   OptionTable<TrainOptions> table;
//   table.add("epochs", &TrainOptions::epochs, at_least(1), "Maximum number of epochs");
//   table.include(model_option_table(), &TrainOptions::model);
template <class T>
class OptionTable {
 public:
  struct Option {
    OptionInfo info;
    std::function<nlohmann::json(const T&)> get;
    std::function<void(T&, const OptionInfo&, const nlohmann::json&)> set;
  };

  template <class U, class V, class Rule>
  requires std::derived_from<T, U> OptionTable& add(std::string name, V U::*member,
                                                    const Rule& given, std::string help) {
    const auto rule = rule_of(given);
    OptionInfo info{.name = std::move(name), .help = std::move(help)};
    rule.template describe<V>(info);
    return add(
        {.info = std::move(info),
         .get = [=](const T& options) { return rule.write(options.*member); },
         .set = [=](T& options, const OptionInfo& option,
                    const nlohmann::json& value) { rule.read(option, value, options.*member); }});
  }

  // Adds the options of a member. include(table) adds those of a base class.
  template <class U, class M>
  requires std::derived_from<T, U> OptionTable& include(const OptionTable<M>& table, M U::*member,
                                                        const IncludeAs& as = {}) {
    return include_all(
        table, as, [member](auto& options) -> auto& { return options.*member; });
  }
  template <class U>
  requires std::derived_from<T, U> OptionTable& include(const OptionTable<U>& table,
                                                        const IncludeAs& as = {}) {
    return include_all(
        table, as, [](auto& options) -> auto& { return options; });
  }

  // Marks the option added last as required, or as positional on the command line.
  OptionTable& required() {
    options_.back().info.required = true;
    return *this;
  }
  OptionTable& positional() {
    options_.back().info.positional = true;
    return *this;
  }

  // Sets the heading of all options so far that have none.
  OptionTable& group(const std::string& heading) {
    for (auto& option : options_) {
      if (option.info.group.empty()) option.info.group = heading;
    }
    return *this;
  }

  const std::vector<Option>& options() const { return options_; }
  const OptionInfo* find(std::string_view name) const {
    const Option* option = find_option(name);
    return option == nullptr ? nullptr : &option->info;
  }
  // Throws Error if there is no such option.
  const OptionInfo& at(std::string_view name) const {
    const OptionInfo* info = find(name);
    require(info != nullptr, "unknown option ", quote(name));
    return *info;
  }

  nlohmann::json to_json(const T& options) const {
    nlohmann::json all = nlohmann::json::object();
    for (const auto& option : options_) all[option.info.name] = option.get(options);
    return all;
  }

  // Returns `options` updated with the values in `changes`. Throws Error for unknown names, and for
  // values that have the wrong type or are out of range.
  T from_json(const nlohmann::json& changes, T options = {}) const {
    require(changes.is_object(), "options must be a JSON object");
    for (const auto& [name, value] : changes.items()) {
      const OptionInfo& info = at(name);
      find_option(name)->set(options, info, value);
    }
    return options;
  }

  // Throws Error for the first option that is out of range.
  void check(const T& options) const {
    T copy = options;
    for (const auto& option : options_) option.set(copy, option.info, option.get(options));
  }

  // The options that differ from their defaults, one per line, for --config.
  std::string to_toml(const T& options) const {
    std::string text;
    for (const auto& option : options_) {
      const auto value = option.get(options);
      if (value != option.info.default_value) {
        text += join(option.info.name, " = ", option_toml(value), "\n");
      }
    }
    return text;
  }

  // `options` must outlive the result.
  BoundOptions bind(T& options) const {
    BoundOptions bound;
    for (const auto& option : options_) {
      bound.push_back(
          {.info = option.info,
           .get = [&options, get = option.get] { return get(options); },
           .set = [&options, option](
                      const nlohmann::json& value) { option.set(options, option.info, value); }});
    }
    return bound;
  }

 private:
  const Option* find_option(std::string_view name) const {
    const auto found = std::find_if(options_.begin(), options_.end(),
                                    [&](const auto& option) { return option.info.name == name; });
    return found == options_.end() ? nullptr : &*found;
  }

  OptionTable& add(Option option) {
    require(find_option(option.info.name) == nullptr, "option ", option.info.name,
            " is declared twice");
    option.info.default_value = option.get(T{});
    options_.push_back(std::move(option));
    return *this;
  }

  template <class M, class Access>
  OptionTable& include_all(const OptionTable<M>& table, const IncludeAs& as, Access access) {
    for (const auto& option : table.options()) {
      if (as.skip.contains(option.info.name)) continue;
      OptionInfo info = option.info;
      const auto renamed = as.rename.find(info.name);
      info.name = renamed == as.rename.end() ? as.prefix + info.name : renamed->second;
      add({.info = std::move(info),
           .get = [get = option.get, access](const T& options) { return get(access(options)); },
           .set = [set = option.set, access](
                      T& options, const OptionInfo& shown,
                      const nlohmann::json& value) { set(access(options), shown, value); }});
    }
    return *this;
  }

  std::vector<Option> options_;
};

}  // namespace lase
