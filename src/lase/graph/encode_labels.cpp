#include "lase/graph/encode_labels.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

#include "lase/base/error.h"
#include "lase/base/text.h"

namespace lase {
namespace {

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

using ClassNumbers = std::map<std::string, int32_t, std::less<>>;

// Assigns class ids: first `known` in order, then the other names, sorted.
ClassNumbers number_classes(std::vector<std::string> names, const StringTable& known,
                            StringTable& all) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const bool integers = std::all_of(
      names.begin(), names.end(), [](const auto& name) { return parse_integer(name).has_value(); });
  if (integers) {
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
      return *parse_integer(a) < *parse_integer(b);
    });
  }
  ClassNumbers numbers;
  StringTableBuilder table;
  const auto add = [&](std::string_view name) {
    if (!numbers.emplace(name, static_cast<int32_t>(table.size())).second) return;
    table.add(name);
  };
  for (int64_t i = 0; i < known.size(); ++i) add(known[i]);
  for (const auto& name : names) add(name);
  all = table.finish();
  return numbers;
}

}  // namespace

std::vector<std::string_view> split_text(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == text.npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

Labels encode_labels(const StringTable& texts, const StringTable& known) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].empty()) names.emplace_back(texts[i]);
  }
  Labels labels{.task = Task::kSingleLabel, .label = {}, .target = {}, .names = {}};
  const auto numbers = number_classes(std::move(names), known, labels.names);
  std::vector<int32_t> label;
  for (int64_t i = 0; i < texts.size(); ++i) {
    label.push_back(texts[i].empty() ? -1 : numbers.find(texts[i])->second);
  }
  labels.label = std::move(label);
  return labels;
}

Labels encode_multi_labels(const StringTable& texts, std::string_view separator,
                           const StringTable& known) {
  require_option(!separator.empty(), OptionName{"label_separator"},
                 " '': must have at least one character");
  std::vector<std::string> names;
  for (int64_t i = 0; i < texts.size(); ++i) {
    for (const auto part : split_text(texts[i], separator)) {
      if (!trimmed(part).empty()) names.emplace_back(trimmed(part));
    }
  }
  Labels labels{.task = Task::kMultiLabel, .label = {}, .target = {}, .names = {}};
  const auto numbers = number_classes(std::move(names), known, labels.names);
  const auto classes = static_cast<size_t>(labels.names.size());
  std::vector<float> target(static_cast<size_t>(texts.size()) * classes);
  for (int64_t i = 0; i < texts.size(); ++i) {
    float* row = target.data() + static_cast<size_t>(i) * classes;
    if (texts[i].empty()) std::fill_n(row, classes, std::numeric_limits<float>::quiet_NaN());
    for (const auto part : split_text(texts[i], separator)) {
      if (!trimmed(part).empty()) row[numbers.find(trimmed(part))->second] = 1;
    }
  }
  labels.target = std::move(target);
  return labels;
}

}  // namespace lase
