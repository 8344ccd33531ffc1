#include "lase/graph/encode_labels.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "lase/base/error.h"
#include "lase/base/random.h"
#include "lase/base/text.h"

namespace lase {
namespace {

constexpr uint64_t kSplitStream = 0x5350'4C49'54;  // a random stream of its own

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

std::optional<Split> split_from_word(std::string_view word) {
  const std::string lower = lower_case(word);
  if (lower == "train" || lower == "training") return Split::kTrain;
  if (lower == "val" || lower == "valid" || lower == "validation" || lower == "dev") {
    return Split::kVal;
  }
  if (lower == "test") return Split::kTest;
  if (lower.empty() || lower == "none") return Split::kNone;
  return std::nullopt;
}

bool is_shares(std::string_view text) {
  const auto parts = split_text(text, "/");
  return parts.size() == 3 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto proportion = parse_number(part);
           return proportion && *proportion >= 0;
         });
}

Array<uint8_t> random_split(int64_t n, std::string_view proportions, uint64_t seed) {
  const auto parts = split_text(proportions, "/");
  const double train = *parse_number(parts[0]);
  const double val = *parse_number(parts[1]);
  const double total = train + val + *parse_number(parts[2]);
  require_option(total > 0, OptionName{"split"}, " ", quote(proportions),
                 ": must be proportions that are not all zero");
  std::vector<std::pair<uint64_t, int64_t>> order;
  for (int64_t i = 0; i < n; ++i) order.emplace_back(Random(seed, kSplitStream, i).bits(), i);
  std::sort(order.begin(), order.end());
  const auto count = [&](double proportion) {
    return int64_t{std::llround(proportion / total * static_cast<double>(n))};
  };
  const int64_t train_end = count(train);
  const int64_t val_end = count(train + val);
  std::vector<uint8_t> split(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const auto part = i < train_end ? Split::kTrain : i < val_end ? Split::kVal : Split::kTest;
    split[static_cast<size_t>(order[static_cast<size_t>(i)].second)] = static_cast<uint8_t>(part);
  }
  return split;
}

}  // namespace lase
