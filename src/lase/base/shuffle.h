#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "lase/base/random.h"

namespace lase {

// Fisher–Yates shuffle. Unlike std::shuffle, the order depends only on the random stream, not on
// the standard library.
template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

// Keeps min(count, size) of the items, chosen uniformly at random, in random order.
template <class T>
void subsample(std::vector<T>& items, size_t count, Random& random) {
  count = std::min(count, items.size());
  for (size_t i = 0; i < count; ++i) {
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  }
  items.resize(count);
}

}  // namespace lase
