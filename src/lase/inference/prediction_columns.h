#pragma once

#include <cstdint>

namespace lase {

// Columns of a table of predictions.
struct PredictionColumns {
  int64_t top_k = 1;           // most probable classes to list
  bool probabilities = false;  // also the probability of every class
};

}  // namespace lase
