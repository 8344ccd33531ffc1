#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/names.h"

namespace lase {

// The type of an option's value in JSON and in text.
enum class OptionKind : uint8_t {
  kBool,      // true
  kInteger,   // -3
  kNumber,    // 0.5
  kText,      // any string
  kWord,      // one of a few words
  kIntegers,  // 64,48 or [64, 48]; may contain words
  kTexts,     // a,b or ["a", "b"]
};

// One option, as used by flags, configuration files, messages and documentation.
struct OptionInfo {
  std::string name;  // learning_rate
  std::string help;  // one line
  OptionKind kind = OptionKind::kText;
  std::string valid = {};               // "1 to 65536"; empty: any value of this kind
  std::vector<std::string> words = {};  // kWord: all values; else accepted beside numbers
  nlohmann::json default_value = {};    // the default
  bool required = false;
  bool positional = false;
  std::string group = {};  // heading in the help
};

// Parses a command-line value; nullopt if it does not have the form of the option.
std::optional<nlohmann::json> option_from_text(const OptionInfo& option, std::string_view text);
// The value in command-line form: 0.01, 64,48, all,3.
std::string option_text(const nlohmann::json& value);
// The value in TOML form: 0.01, "concat", [64, 48], "all,3".
std::string option_toml(const nlohmann::json& value);
// Throws OptionError, e.g., "learning_rate 0: must be a positive number".
[[noreturn]] void fail_option(const OptionInfo& option, const nlohmann::json& value);

// A range of valid numbers. Infinity and NaN are never valid.
struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  // least is exclusive
  bool below_most = false;   // most is exclusive

  bool holds(double value) const;
  std::string text() const;
};
inline NumberRange at_least(double least) { return {.least = least}; }
inline NumberRange between(double least, double most) { return {.least = least, .most = most}; }
// The half-open range [least, most).
inline NumberRange below(double least, double most) {
  return {.least = least, .most = most, .below_most = true};
}
inline NumberRange positive(double most = std::numeric_limits<double>::infinity()) {
  return {.least = 0, .most = most, .above_least = true};
}

// A rule defines the valid values of a member of type V and their JSON form: describe() fills in
// the option's kind and range, read() checks and converts, write() is the inverse of read().

// Booleans, numbers, strings, and lists of integers or strings.
struct Plain {
  NumberRange range = {};

  static OptionKind kind_of(const bool*) { return OptionKind::kBool; }
  static OptionKind kind_of(const int64_t*) { return OptionKind::kInteger; }
  static OptionKind kind_of(const uint64_t*) { return OptionKind::kInteger; }
  static OptionKind kind_of(const double*) { return OptionKind::kNumber; }
  static OptionKind kind_of(const std::optional<float>*) { return OptionKind::kNumber; }
  static OptionKind kind_of(const std::string*) { return OptionKind::kText; }
  static OptionKind kind_of(const std::vector<int64_t>*) { return OptionKind::kIntegers; }
  static OptionKind kind_of(const std::vector<std::string>*) { return OptionKind::kTexts; }

  template <class V>
  void describe(OptionInfo& option) const {
    option.kind = kind_of(static_cast<const V*>(nullptr));
    option.valid =
        std::is_same_v<V, uint64_t> && range.text().empty() ? "at least 0" : range.text();
  }
  void read(const OptionInfo& option, const nlohmann::json& value, bool& to) const;
  void read(const OptionInfo& option, const nlohmann::json& value, int64_t& to) const;
  void read(const OptionInfo& option, const nlohmann::json& value, uint64_t& to) const;
  void read(const OptionInfo& option, const nlohmann::json& value, double& to) const;
  void read(const OptionInfo& option, const nlohmann::json& value, std::optional<float>& to) const;
  void read(const OptionInfo& option, const nlohmann::json& value, std::string& to) const;
  void read(const OptionInfo& option, const nlohmann::json& value, std::vector<int64_t>& to) const;
  void read(const OptionInfo& option, const nlohmann::json& value,
            std::vector<std::string>& to) const;

  template <class V>
  nlohmann::json write(const V& value) const {
    return value;
  }
  nlohmann::json write(const std::optional<float>& value) const {
    return value ? nlohmann::json(*value) : nlohmann::json();
  }
};
inline Plain any() { return {}; }

// One of a few words, for an enumeration with names, a boolean with two names, or a string.
struct Words {
  std::vector<std::string> words;

  template <class V>
  void describe(OptionInfo& option) const {
    option.kind = OptionKind::kWord;
    option.words = words;
  }
  // The position of the word.
  size_t find(const OptionInfo& option, const nlohmann::json& value) const;

  template <class V>
  void read(const OptionInfo& option, const nlohmann::json& value, V& to) const {
    to = static_cast<V>(find(option, value));
  }
  void read(const OptionInfo& option, const nlohmann::json& value, std::string& to) const {
    to = words[find(option, value)];
  }
  template <class V>
  nlohmann::json write(const V& value) const {
    const auto number = static_cast<size_t>(value);
    return number < words.size() ? nlohmann::json(words[number]) : nlohmann::json(number);
  }
  nlohmann::json write(const std::string& value) const { return value; }
};
template <Named Enum>
Words one_of() {
  return {{kEnumNames<Enum>.begin(), kEnumNames<Enum>.end()}};
}
inline Words one_of(std::vector<std::string> words) { return {std::move(words)}; }
// A boolean written as one of two words.
inline Words either(std::string for_false, std::string for_true) {
  return {{std::move(for_false), std::move(for_true)}};
}

// One positive integer per layer. "all" is stored as −1, and `automatic` as an empty list.
struct FanOut {
  static constexpr const char* kAll = "all";
  std::string automatic;  // empty: not accepted

  template <class V>
  void describe(OptionInfo& option) const {
    describe(option);
  }
  void describe(OptionInfo& option) const;
  void read(const OptionInfo& option, const nlohmann::json& value, std::vector<int64_t>& to) const;
  nlohmann::json write(const std::vector<int64_t>& value) const;
};
inline FanOut fanout_or(std::string automatic) { return {std::move(automatic)}; }
inline FanOut fanout() { return {""}; }

// A number in a range, or "auto", which is stored as no value.
struct NumberOrAuto {
  static constexpr const char* kAuto = "auto";
  NumberRange range;

  template <class V>
  void describe(OptionInfo& option) const {
    Plain{range}.describe<typename V::value_type>(option);
    option.words = {kAuto};
  }
  template <class V>
  void read(const OptionInfo& option, const nlohmann::json& value, V& to) const {
    to.reset();
    if (value == kAuto) return;
    typename V::value_type number{};
    Plain{range}.read(option, value, number);
    to = number;
  }
  template <class V>
  nlohmann::json write(const V& value) const {
    return value ? nlohmann::json(*value) : nlohmann::json(kAuto);
  }
};
inline NumberOrAuto or_auto(const NumberRange& range) { return {range}; }

inline Plain rule_of(const NumberRange& range) { return {range}; }
template <class Rule>
Rule rule_of(const Rule& rule) {
  return rule;
}

}  // namespace lase
