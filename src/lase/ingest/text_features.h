#pragma once

#include <cstdint>
#include <string>

#include "lase/graph/raw_graph.h"
#include "lase/graph/schema.h"

namespace lase {

struct TextFeatures {
  Attributes features;  // sparse [texts, terms]
  StringTable names;    // [terms]
  nlohmann::json idf;   // [terms]
};

// tf-idf of the words (lowercase runs of at least two letters or digits), with rows normalized to
// unit length:
//
//   x(t, i) = tf(t, i) (ln((1 + n) / (1 + df(t))) + 1)
//
// If there is a split, n and df count training texts only. Terms in fewer than `min_count` of these
// texts are ignored. With a schema, its terms and weights are used unchanged.
TextFeatures tf_idf(const StringTable& texts, const Array<uint8_t>& split,
                    const std::string& column, int64_t min_count, const Schema* schema);

}  // namespace lase
