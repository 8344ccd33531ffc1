#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "lase/base/random.h"

namespace lase {

// Fisher and Yates' shuffle. Unlike with std::shuffle, the order is a function of the stream alone,
// whatever the standard library.
template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

// Keeps `count` of the items (all, where there are fewer), chosen uniformly, in random order.
template <class T>
void subsample(std::vector<T>& items, size_t count, Random& random) {
  count = std::min(count, items.size());
  for (size_t i = 0; i < count; ++i) {
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  }
  items.resize(count);
}

}  // namespace lase
