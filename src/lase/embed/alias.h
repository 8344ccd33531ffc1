#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lase/base/random.h"

namespace lase {

// Samples i with probability weight_i / Σ weight in constant time (Walker's alias method): picks a
// column uniformly, then either it or its alias.
class AliasTable {
 public:
  AliasTable() = default;
  // Weights ≥ 0, at least one positive.
  explicit AliasTable(std::span<const float> weights);

  int64_t size() const { return static_cast<int64_t>(columns_.size()); }
  int32_t draw(Random& random) const {
    const auto [column, rest] = random.split_below(static_cast<uint64_t>(columns_.size()));
    const Column& c = columns_[column];
    return rest < c.threshold ? static_cast<int32_t>(column) : c.alias;
  }

 private:
  struct Column {
    uint32_t threshold = 0;  // probability of the column itself, times 2^32
    int32_t alias = 0;
  };
  std::vector<Column> columns_;
};

}  // namespace lase
