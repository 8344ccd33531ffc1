#pragma once

#include <cstdint>
#include <string>

#include "lase/graph/like.h"
#include "lase/graph/raw_graph.h"

namespace lase {

struct TextFeatures {
  Attributes features;  // sparse [texts, terms]
  StringTable names;    // the terms
  nlohmann::json idf;   // [terms]
};

// tf-idf of the words (runs of letters and digits, two at least, in lower case) with rows of length
// one:
//
//   x(t, i) = tf(t, i) (ln((1 + n) / (1 + df(t))) + 1)
//
// n and df count training texts only where there is a split; terms in fewer than `min_count` of
// them are left out. With `like` its terms and weights are used as they are.
TextFeatures tf_idf(const StringTable& texts, const Array<uint8_t>& split,
                    const std::string& column, int64_t min_count, const Like* like);

}  // namespace lase
