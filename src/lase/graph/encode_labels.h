#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lase/graph/labels.h"

namespace lase {

// Class names to class numbers; empty names are unknown labels. The classes are sorted, by value
// where all are integers; those of `known` keep their numbers and come first.
Labels encode_labels(const StringTable& texts, const StringTable& known);

// As above for several classes a node, their names separated by `separator`.
Labels encode_multi_labels(const StringTable& texts, std::string_view separator,
                           const StringTable& known);

// The split that a word stands for, or nothing: train, val (valid, validation, dev), test, or
// empty.
std::optional<Split> split_from_word(std::string_view word);

// Whether a text such as "65/15/20" gives shares, and the split of n nodes into such shares, drawn
// at random.
bool is_shares(std::string_view text);
Array<uint8_t> random_split(int64_t n, std::string_view shares, uint64_t seed);

// The parts of a text between separators.
std::vector<std::string_view> split_text(std::string_view text, std::string_view separator);

}  // namespace lase
