#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lase/graph/labels.h"

namespace lase {

// Encodes class names as class ids; an empty name is an unknown label. Classes are sorted, by value
// if all are integers; classes in `known` come first and keep their ids.
Labels encode_labels(const StringTable& texts, const StringTable& known);

// The same for several classes per node, separated by `separator`.
Labels encode_multi_labels(const StringTable& texts, std::string_view separator,
                           const StringTable& known);

// Parses train (training), val (valid, validation, dev), test, or none (empty); nullopt for any
// other word.
std::optional<Split> split_from_word(std::string_view word);

// Proportions of a split, with sum 1.
struct Proportions {
  double train = 0;
  double val = 0;
  double test = 0;
};

// Whether a text gives the proportions of a split, such as "65/15/20" or "80/20".
bool is_shares(std::string_view text);
// Parses percentages, or fractions with sum 1. Two numbers are train and test; a tenth of train is
// used for validation. Throws Error if they do not sum to 100.
Proportions parse_proportions(std::string_view text);

// A random split of n nodes.
Array<uint8_t> random_split(int64_t n, const Proportions& proportions, uint64_t seed);

// A random split of the labeled nodes in which every class has these proportions, up to rounding.
// Classes with fewer than three nodes are used for training. Multi-label and regression tasks are
// not stratified; without labels, all nodes are split.
struct StratifiedSplit {
  Array<uint8_t> split;  // [nodes]
  int64_t rare = 0;      // nodes of classes with fewer than three nodes
};
StratifiedSplit stratified_split(const Labels& labels, int64_t nodes,
                                 const Proportions& proportions, uint64_t seed);

// Splits a text at each separator, keeping empty parts.
std::vector<std::string_view> split_text(std::string_view text, std::string_view separator);

}  // namespace lase
