#pragma once

#include <cstdint>
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

// Splits a text at each separator, keeping empty parts.
std::vector<std::string_view> split_text(std::string_view text, std::string_view separator);

}  // namespace lase
