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

// Whether a text gives the proportions of a split, such as "65/15/20".
bool is_shares(std::string_view text);
// Random split of n nodes in these proportions.
Array<uint8_t> random_split(int64_t n, std::string_view proportions, uint64_t seed);

// Splits a text at each separator, keeping empty parts.
std::vector<std::string_view> split_text(std::string_view text, std::string_view separator);

}  // namespace lase
