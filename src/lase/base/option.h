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

// The form that the value of an option has in JSON and in text.
enum class OptionKind : uint8_t {
  kBool,      // true
  kInteger,   // -3
  kNumber,    // 0.5
  kText,      // any text
  kWord,      // one of a few words
  kIntegers,  // 64,48 or [64, 48]; may hold words too
  kTexts,     // a,b or ["a", "b"]
};

// The description of one option: all that flags, files, messages and documentation need.
struct OptionInfo {
  std::string name;  // learning_rate
  std::string help;  // one line
  OptionKind kind = OptionKind::kText;
  std::string valid = {};               // "1 to 65536"; empty: any value of its kind
  std::vector<std::string> words = {};  // kWord: all values; kIntegers: what may stand for a number
  nlohmann::json usual = {};            // the default
  bool required = false;
  bool positional = false;
};

// The text of a command line as JSON; nothing where it does not have the form of the option.
std::optional<nlohmann::json> option_from_text(const OptionInfo& option, std::string_view text);
// The value as on a command line: 0.01, 64,48, all,3.
std::string option_text(const nlohmann::json& value);
// The value in TOML: 0.01, "concat", [64, 48], "all,3".
std::string option_toml(const nlohmann::json& value);
// "a whole number", "true or false"
std::string expected_form(const OptionInfo& option);
// learning_rate 0: expected a positive number
[[noreturn]] void fail_option(const OptionInfo& option, const nlohmann::json& value);

// Valid numbers. Infinity and NaN never are.
struct NumberRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;  // least itself is not valid
  bool below_most = false;   // most itself is not valid

  bool holds(double value) const;
  std::string text() const;
};
inline NumberRange at_least(double least) { return {.least = least}; }
inline NumberRange between(double least, double most) { return {.least = least, .most = most}; }
// At least `least`, and less than `most`.
inline NumberRange below(double least, double most) {
  return {.least = least, .most = most, .below_most = true};
}
inline NumberRange positive(double most = std::numeric_limits<double>::infinity()) {
  return {.least = 0, .most = most, .above_least = true};
}

// A rule says which values a member of type V may have, and how they look in JSON: describe() fills
// in the form of the option, read() checks and converts, write() is its inverse.

// Numbers, lists of them, booleans and text.
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

// One of a few words: an enumeration with names, a boolean with two of them, or a text.
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
// A boolean as the word for false and the word for true.
inline Words either(std::string for_false, std::string for_true) {
  return {{std::move(for_false), std::move(for_true)}};
}

// Positive numbers per layer, where `all` stands for −1, and `automatic` for no number.
struct FanOut {
  static constexpr const char* kAll = "all";
  std::string automatic;  // empty: there must be a number

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

inline Plain rule_of(const NumberRange& range) { return {range}; }
template <class Rule>
Rule rule_of(const Rule& rule) {
  return rule;
}

}  // namespace lase
