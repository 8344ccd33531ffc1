#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lase/base/array.h"
#include "lase/base/string_table.h"
#include "lase/graph/labels.h"

namespace lase {

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
bool is_proportions(std::string_view text);
// Parses percentages, or fractions with sum 1. Two numbers are train and test; a tenth of train is
// used for validation. Throws Error, which names the option, if they do not sum to 100.
Proportions parse_proportions(std::string_view text, std::string_view option = "split");

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

// The proportions of a split among the nodes that belong to one.
Proportions proportions_of(const Array<uint8_t>& split);

// A new stratified split of the nodes in the training and validation splits, with `validation` as
// the proportion of validation nodes. Other nodes keep their split.
Array<uint8_t> redraw_validation(const Labels& labels, const Array<uint8_t>& split,
                                 double validation, uint64_t seed);

// Splits of n links between the nodes source[i] and target[i], which may be parallel. A pair of
// nodes is unordered.

// Random: all links of a pair are in the same split, which depends on the seed and the names of its
// nodes alone. Sizes are as in `proportions` only on average.
Array<uint8_t> random_link_split(std::span<const int32_t> source, std::span<const int32_t> target,
                                 const StringTable& names, const Proportions& proportions,
                                 uint64_t seed);

// By time: every training link is earlier than every validation link, and these are earlier than
// every test link. Links with equal times are in the same split, the later one if they lie across
// a boundary.
Array<uint8_t> time_split(std::span<const double> times, const Proportions& proportions);

// By the first time of pairs: the boundaries are those of time_split() for the first link of each
// pair.
struct FirstTimeSplit {
  Array<uint8_t> stage;  // [n]: split of the time of the link
  Array<uint8_t> split;  // [n]: the same, but none if the pair has a link in an earlier stage
};
FirstTimeSplit first_time_split(std::span<const int32_t> source, std::span<const int32_t> target,
                                std::span<const double> times, const Proportions& proportions);

}  // namespace lase
