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
  return (parts.size() == 2 || parts.size() == 3) &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto proportion = parse_number(part);
           return proportion && *proportion >= 0;
         });
}

Proportions parse_proportions(std::string_view text) {
  require_option(is_shares(text), OptionName{"split"}, " ", quote(text),
                 ": must be percentages such as 65/15/20 or 80/20");
  std::vector<double> parts;
  double total = 0;
  for (const auto part : split_text(text, "/")) {
    parts.push_back(*parse_number(part));
    total += parts.back();
  }
  constexpr double kTolerance = 1e-6;
  require_option(std::abs(total - 100) < 100 * kTolerance || std::abs(total - 1) < kTolerance,
                 OptionName{"split"}, " ", quote(text), ": sums to ", total,
                 ", expected percentages that sum to 100");
  for (double& part : parts) part /= total;
  if (parts.size() == 3) return {parts[0], parts[1], parts[2]};
  return {0.9 * parts[0], 0.1 * parts[0], parts[1]};
}

namespace {

// Splits the labeled nodes of each group in random order. The groups share the rounding errors, so
// that the total numbers are exact.
std::vector<uint8_t> split_groups(const std::vector<std::vector<int64_t>>& groups, int64_t nodes,
                                  const Proportions& proportions, uint64_t seed) {
  std::vector<uint8_t> split(static_cast<size_t>(nodes), static_cast<uint8_t>(Split::kNone));
  int64_t before = 0;  // nodes in earlier groups
  for (const auto& group : groups) {
    std::vector<std::pair<uint64_t, int64_t>> order;
    order.reserve(group.size());
    for (const int64_t u : group) order.emplace_back(Random(seed, kSplitStream, u).bits(), u);
    std::sort(order.begin(), order.end());
    const auto end = [&](double fraction) {
      const auto total = [&](int64_t n) {
        return int64_t{std::llround(fraction * static_cast<double>(n))};
      };
      return total(before + std::ssize(group)) - total(before);
    };
    const int64_t train_end = end(proportions.train);
    const int64_t val_end = std::max(train_end, end(proportions.train + proportions.val));
    for (int64_t i = 0; i < std::ssize(order); ++i) {
      const auto part = i < train_end ? Split::kTrain : i < val_end ? Split::kVal : Split::kTest;
      split[static_cast<size_t>(order[static_cast<size_t>(i)].second)] = static_cast<uint8_t>(part);
    }
    before += std::ssize(group);
  }
  return split;
}

}  // namespace

Array<uint8_t> random_split(int64_t n, const Proportions& proportions, uint64_t seed) {
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return split_groups({all}, n, proportions, seed);
}

StratifiedSplit stratified_split(const Labels& labels, int64_t nodes,
                                 const Proportions& proportions, uint64_t seed) {
  if (labels.classes() == 0) return {random_split(nodes, proportions, seed), 0};
  const bool single = labels.task == Task::kSingleLabel;
  std::vector<std::vector<int64_t>> groups(static_cast<size_t>(single ? labels.classes() : 1));
  for (int64_t u = 0; u < nodes; ++u) {
    if (labels.known(u)) groups[static_cast<size_t>(single ? labels.label[u] : 0)].push_back(u);
  }
  std::vector<int64_t> rare;
  constexpr size_t kFewest = 3;
  for (auto& group : groups) {
    if (!single || group.size() >= kFewest) continue;
    rare.insert(rare.end(), group.begin(), group.end());
    group.clear();
  }
  auto split = split_groups(groups, nodes, proportions, seed);
  for (const int64_t u : rare) {
    split[static_cast<size_t>(u)] = static_cast<uint8_t>(Split::kTrain);
  }
  return {std::move(split), std::ssize(rare)};
}

}  // namespace lase
