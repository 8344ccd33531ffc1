#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lase/base/random.h"

namespace lase {

// Numbers nodes consecutively from 0 in order of first appearance. The hash table grows with the
// number of distinct nodes, not with the graph.
class NodeIndex {
 public:
  int32_t number(int64_t node) {
    if (2 * nodes_.size() >= slots_.size()) grow();
    int32_t& slot = find(node);
    if (slot < 0) {
      slot = static_cast<int32_t>(nodes_.size());
      nodes_.push_back(node);
    }
    return slot;
  }
  const std::vector<int64_t>& nodes() const { return nodes_; }
  int64_t size() const { return static_cast<int64_t>(nodes_.size()); }

 private:
  int32_t& find(int64_t node) {
    const size_t mask = slots_.size() - 1;
    size_t at = mix(static_cast<uint64_t>(node)) & mask;
    while (slots_[at] >= 0 && nodes_[static_cast<size_t>(slots_[at])] != node) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    slots_.assign(std::max<size_t>(1024, 4 * slots_.size()), -1);
    for (size_t i = 0; i < nodes_.size(); ++i) find(nodes_[i]) = static_cast<int32_t>(i);
  }
  std::vector<int32_t> slots_;  // open addressing; −1: empty
  std::vector<int64_t> nodes_;
};

}  // namespace lase
