#include "lase/graph/split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/random.h"
#include "lase/base/text.h"
#include "lase/graph/encode_labels.h"

namespace lase {

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

bool is_proportions(std::string_view text) {
  const auto parts = split_text(text, "/");
  return (parts.size() == 2 || parts.size() == 3) &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto proportion = parse_number(part);
           return proportion && *proportion >= 0;
         });
}

Proportions parse_proportions(std::string_view text, std::string_view option) {
  require_option(is_proportions(text), OptionName{option}, " ", quote(text),
                 ": must be percentages such as 65/15/20 or 80/20");
  std::vector<double> parts;
  double total = 0;
  for (const auto part : split_text(text, "/")) {
    parts.push_back(*parse_number(part));
    total += parts.back();
  }
  constexpr double kTolerance = 1e-6;
  require_option(std::abs(total - 100) < 100 * kTolerance || std::abs(total - 1) < kTolerance,
                 OptionName{option}, " ", quote(text), ": sums to ", total,
                 ", expected percentages that sum to 100");
  for (double& part : parts) part /= total;
  if (parts.size() == 3) return {parts[0], parts[1], parts[2]};
  return {0.9 * parts[0], 0.1 * parts[0], parts[1]};
}

namespace {

constexpr uint64_t kSplitStream = 0x5350'4C49'54;  // a random stream of its own

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

// The labeled nodes for which use(u) holds, by class; classes with fewer than three such nodes are
// `rare`.
struct Strata {
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> rare;
};

template <class Use>
Strata strata_of(const Labels& labels, int64_t nodes, const Use& use) {
  const bool single = labels.task == Task::kSingleLabel;
  Strata strata;
  strata.groups.resize(static_cast<size_t>(single ? labels.classes() : 1));
  const bool labeled = labels.task != Task::kNone;  // otherwise, all nodes are used
  for (int64_t u = 0; u < nodes; ++u) {
    if ((labeled && !labels.known(u)) || !use(u)) continue;
    strata.groups[static_cast<size_t>(single ? labels.label[u] : 0)].push_back(u);
  }
  constexpr size_t kFewest = 3;
  for (auto& group : strata.groups) {
    if (!single || group.size() >= kFewest) continue;
    strata.rare.insert(strata.rare.end(), group.begin(), group.end());
    group.clear();
  }
  return strata;
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
  const auto [groups, rare] = strata_of(labels, nodes, [](int64_t) { return true; });
  auto split = split_groups(groups, nodes, proportions, seed);
  for (const int64_t u : rare) {
    split[static_cast<size_t>(u)] = static_cast<uint8_t>(Split::kTrain);
  }
  return {std::move(split), std::ssize(rare)};
}

Proportions proportions_of(const Array<uint8_t>& split) {
  std::array<double, 4> count{};  // by Split
  double all = 0;
  for (const uint8_t part : split) {
    if (part == static_cast<uint8_t>(Split::kNone)) continue;
    ++count.at(part);
    ++all;
  }
  if (all == 0) return {};
  return {.train = count[static_cast<size_t>(Split::kTrain)] / all,
          .val = count[static_cast<size_t>(Split::kVal)] / all,
          .test = count[static_cast<size_t>(Split::kTest)] / all};
}

Array<uint8_t> redraw_validation(const Labels& labels, const Array<uint8_t>& split,
                                 double validation, uint64_t seed) {
  std::vector<uint8_t> redrawn(split.begin(), split.end());
  const auto part = [&](int64_t u) { return static_cast<Split>(split[u]); };
  const auto [groups, rare] = strata_of(labels, split.size(), [&](int64_t u) {
    return part(u) == Split::kTrain || part(u) == Split::kVal;
  });
  const auto drawn =
      split_groups(groups, split.size(), {.train = 1 - validation, .val = validation}, seed);
  for (const auto& group : groups) {
    for (const int64_t u : group) redrawn[static_cast<size_t>(u)] = drawn[static_cast<size_t>(u)];
  }
  for (const int64_t u : rare) {
    redrawn[static_cast<size_t>(u)] = static_cast<uint8_t>(Split::kTrain);
  }
  return redrawn;
}

}  // namespace lase
