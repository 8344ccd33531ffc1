#include "lase/base/option.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "lase/base/json.h"

namespace lase {
namespace {

using nlohmann::json;

std::string number_text(double value) {
  constexpr double kExact = 1e15;  // integers up to here are written without exponent
  if (std::abs(value) < kExact && value == std::floor(value)) {
    return std::to_string(static_cast<int64_t>(value));
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == text.npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

template <class Number>
std::optional<json> parsed(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end ? std::optional<json>(value) : std::nullopt;
}

std::optional<json> integer_from(std::string_view text) {
  const auto value = parsed<int64_t>(text);
  return value ? value : parsed<uint64_t>(text);
}

std::optional<json> list_from(const OptionInfo& option, std::string_view text) {
  json list = json::array();
  for (const auto part : parts_of(text)) {
    const auto number =
        option.kind == OptionKind::kIntegers ? integer_from(part) : std::optional<json>();
    const bool is_text = option.kind == OptionKind::kTexts || !option.words.empty();
    if (!number && !is_text) return std::nullopt;
    list.push_back(number ? *number : json(part));
  }
  return list;
}

int64_t checked_integer(const OptionInfo& option, const json& value, const json& all,
                        const NumberRange& range) {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || non_negative_integer(value).has_value());
  if (!fits || !range.holds(value.get<double>())) fail_option(option, all);
  return value.get<int64_t>();
}

// "an integer", "one of add, concat"
std::string form_of(const OptionInfo& option) {
  switch (option.kind) {
    case OptionKind::kBool:
      return "true or false";
    case OptionKind::kInteger:
      return option.words.empty() ? "an integer" : join("an integer or ", quote(option.words[0]));
    case OptionKind::kNumber:
      return option.words.empty() ? "a number" : join("a number or ", quote(option.words[0]));
    case OptionKind::kText:
      return "a string";
    case OptionKind::kWord:
      break;
    case OptionKind::kIntegers:
      return option.words.empty() ? "a list of integers, such as 64,48" : option.valid;
    case OptionKind::kTexts:
      return "a list of strings, such as a,b";
  }
  std::string words;
  for (const auto& word : option.words) words += (words.empty() ? "one of " : ", ") + word;
  return words;
}

// Whether the value has the type of the option, though it may be out of range.
bool has_form(const OptionInfo& option, const json& value) {
  const auto is_integer = [](const json& part) { return part.is_number_integer(); };
  switch (option.kind) {
    case OptionKind::kInteger:
      return is_integer(value);
    case OptionKind::kNumber:
      return value.is_number();
    case OptionKind::kIntegers:
      return value.is_array() && std::all_of(value.begin(), value.end(), is_integer);
    default:
      return false;
  }
}

// "at least 0", "from 1 to 9"
std::string valid_values(const OptionInfo& option) {
  const bool is_range =
      option.valid.find(" to ") != option.valid.npos &&
      option.valid.find_first_not_of("-+.e0123456789") == option.valid.find(" to ");
  const char* what = option.kind == OptionKind::kIntegers ? "a list of integers " : "";
  return is_range ? join(what, "from ", option.valid) : option.valid;
}

}  // namespace

std::optional<json> option_from_text(const OptionInfo& option, std::string_view text) {
  const bool is_number = option.kind == OptionKind::kInteger || option.kind == OptionKind::kNumber;
  const auto word = std::find(option.words.begin(), option.words.end(), text);
  if (is_number && word != option.words.end()) return text;
  switch (option.kind) {
    case OptionKind::kBool:
      if (text != "true" && text != "false") return std::nullopt;
      return text == "true";
    case OptionKind::kInteger:
      return integer_from(text);
    case OptionKind::kNumber:
      return parsed<double>(text);
    case OptionKind::kText:
    case OptionKind::kWord:
      return text;
    case OptionKind::kIntegers:
    case OptionKind::kTexts:
      return list_from(option, text);
  }
  return std::nullopt;
}

std::string option_text(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return number_text(value.get<double>());
  if (!value.is_array()) return value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string text;
  for (const json& part : value) {
    if (!text.empty()) text += ',';
    text += option_text(part);
  }
  return text;
}

std::string option_toml(const json& value) {
  const auto is_text = [](const json& part) { return part.is_string(); };
  if (value.is_array()) {
    const auto texts = std::count_if(value.begin(), value.end(), is_text);
    if (texts > 0 && texts < static_cast<int64_t>(value.size())) {
      return json(option_text(value)).dump();
    }
    std::string text = "[";
    for (const json& part : value) {
      if (text.size() > 1) text += ", ";
      text += option_toml(part);
    }
    return text + "]";
  }
  return value.is_string() ? value.dump() : option_text(value);
}

void fail_option(const OptionInfo& option, const json& value) {
  const std::string text = option_text(value);
  const std::string shown = value.is_number() ? text : quote(text);
  const std::string must =
      has_form(option, value) && !option.valid.empty() ? valid_values(option) : form_of(option);
  if (option.positional) throw OptionError(join(option.name, " ", shown, ": must be ", must));
  throw OptionError(join(OptionName{option.name}, " ", shown, ": must be ", must));
}

bool NumberRange::holds(double value) const {
  const bool low = above_least ? value > least : value >= least;
  const bool high = below_most ? value < most : value <= most;
  return std::isfinite(value) && low && high;
}

std::string NumberRange::text() const {
  const bool low = std::isfinite(least);
  const bool high = std::isfinite(most);
  if (above_least && least == 0) {
    return high ? join("a positive number up to ", number_text(most)) : "a positive number";
  }
  if (low && high) {
    return below_most ? join("at least ", number_text(least), " and below ", number_text(most))
                      : join(number_text(least), " to ", number_text(most));
  }
  if (low) return join("at least ", number_text(least));
  return high ? join("at most ", number_text(most)) : "";
}

void Plain::read(const OptionInfo& option, const json& value, bool& to) const {
  if (!value.is_boolean()) fail_option(option, value);
  to = value.get<bool>();
}

void Plain::read(const OptionInfo& option, const json& value, int64_t& to) const {
  to = checked_integer(option, value, value, range);
}

void Plain::read(const OptionInfo& option, const json& value, uint64_t& to) const {
  const bool natural = value.is_number_unsigned() || non_negative_integer(value).has_value();
  if (!natural || !range.holds(value.get<double>())) fail_option(option, value);
  to = value.get<uint64_t>();
}

void Plain::read(const OptionInfo& option, const json& value, double& to) const {
  if (!value.is_number() || !range.holds(value.get<double>())) fail_option(option, value);
  to = value.get<double>();
}

void Plain::read(const OptionInfo& option, const json& value, std::optional<float>& to) const {
  to.reset();
  if (value.is_null()) return;
  double number = 0;
  read(option, value, number);
  if (!std::isfinite(static_cast<float>(number))) fail_option(option, value);
  to = static_cast<float>(number);
}

void Plain::read(const OptionInfo& option, const json& value, std::string& to) const {
  if (!value.is_string()) fail_option(option, value);
  to = value.get<std::string>();
}

void Plain::read(const OptionInfo& option, const json& value, std::vector<int64_t>& to) const {
  if (!value.is_array()) fail_option(option, value);
  std::vector<int64_t> numbers;
  for (const json& part : value) numbers.push_back(checked_integer(option, part, value, range));
  to = std::move(numbers);
}

void Plain::read(const OptionInfo& option, const json& value, std::vector<std::string>& to) const {
  if (!value.is_array()) fail_option(option, value);
  std::vector<std::string> texts;
  for (const json& part : value) {
    if (!part.is_string()) fail_option(option, value);
    texts.push_back(part.get<std::string>());
  }
  to = std::move(texts);
}

size_t Words::find(const OptionInfo& option, const json& value) const {
  const auto found = std::find(words.begin(), words.end(), option_text(value));
  if (!value.is_string() || found == words.end()) fail_option(option, value);
  return static_cast<size_t>(found - words.begin());
}

void FanOut::describe(OptionInfo& option) const {
  option.kind = OptionKind::kIntegers;
  option.words = {kAll};
  if (!automatic.empty()) option.words.push_back(automatic);
  option.valid = automatic.empty()
                     ? "positive integers or 'all', such as 10,10"
                     : join("positive integers, 'all' or '", automatic, "', such as 10,10");
}

void FanOut::read(const OptionInfo& option, const json& value, std::vector<int64_t>& to) const {
  if (!value.is_array() && !value.is_string() && !value.is_number()) fail_option(option, value);
  const json parts = value.is_array() ? value : json::array({value});
  std::vector<int64_t> numbers;
  const bool is_automatic = !automatic.empty() && parts == json::array({automatic});
  if (!is_automatic && parts.empty()) fail_option(option, value);
  for (const json& part : parts) {
    if (is_automatic) break;
    numbers.push_back(part == kAll ? -1 : checked_integer(option, part, value, at_least(1)));
  }
  to = std::move(numbers);
}

json FanOut::write(const std::vector<int64_t>& value) const {
  if (value.empty()) return automatic;
  json parts = json::array();
  for (const int64_t number : value) parts.push_back(number == -1 ? json(kAll) : json(number));
  return value.size() == 1 ? parts[0] : parts;
}

}  // namespace lase
