// Skip-gram steps over pairs of nodes. Compiled once per instruction set, like link_tile.h.
#pragma once

#include "lase/kernels/cpu/row_kernels.h"

namespace lase::kernels {
namespace {

LASE_INLINE int32_t context_of(const NodePair& pair) {
  return pair.context < 0 ? ~pair.context : pair.context;
}

// Consecutive pairs with the same center, which form one step.
struct PairGroup {
  int n = 0;
  float* center = nullptr;
  float* context[kPairGroup];
  float step[kPairGroup];  // g for the center's row; 0 if fixed
  float back[kPairGroup];  // g for the context's row; 0 if fixed

  void fill(const SkipGram& tables, const NodePair* pairs, int64_t left) {
    const int32_t u = pairs[0].center;
    center = tables.center + u * tables.width;
    for (n = 0; n < kPairGroup && n < left && pairs[n].center == u; ++n) {
      context[n] = tables.context + context_of(pairs[n]) * tables.width;
    }
  }

  void find_steps(const SkipGram& tables, const NodePair* pairs) {
    constexpr float kMinusLog2E = -1.4426950408889634F;
    for (int i = 0; i < n; ++i) {
      step[i] = kMinusLog2E * dot(center, context[i], tables.width);
    }
    for (int i = 0; i < n; i += kLanes) {
      const int count = n - i < kLanes ? n - i : kLanes;
      store(step + i, sigmoid_of_exponent(load(step + i, count)), count);
    }
    for (int i = 0; i < n; ++i) {
      step[i] = tables.rate * ((pairs[i].context >= 0 ? 1.0F : 0.0F) - step[i]);
      back[i] = step[i];
      if (tables.fixed == nullptr) continue;
      if (tables.fixed[pairs[i].center] != 0) step[i] = 0;
      if (tables.fixed[context_of(pairs[i])] != 0) back[i] = 0;
    }
  }

  // Updates one vector of every row, or the remainder of the row.
  template <class Load, class Store>
  LASE_INLINE void move(const Load& get, const Store& put) const {
    const Vec x = get(center);
    Vec sum = x;
    for (int i = 0; i < n; ++i) {
      const Vec y = get(context[i]);
      sum += step[i] * y;
      put(context[i], y + back[i] * x);
    }
    put(center, sum);
  }
};

void skip_gram(const SkipGram& tables, const NodePair* pairs, int64_t n) {
  PairGroup group;
  for (int64_t at = 0; at < n; at += group.n) {
    group.fill(tables, pairs + at, n - at);
    for (int64_t i = at + group.n; i < n && i < at + 2 * group.n; ++i) {
      const float* next = tables.context + context_of(pairs[i]) * tables.width;
      for (int64_t j = 0; j < tables.width; j += 16) prefetch(next + j);
    }
    group.find_steps(tables, pairs + at);
    int64_t j = 0;
    for (; j + kLanes <= tables.width; j += kLanes) {
      group.move([j](const float* row) { return load(row + j); },
                 [j](float* row, Vec x) { store(row + j, x); });
    }
    if (j == tables.width) continue;
    const auto rest = static_cast<int>(tables.width - j);
    group.move([j, rest](const float* row) { return load(row + j, rest); },
               [j, rest](float* row, Vec x) { store(row + j, x, rest); });
  }
}

}  // namespace
}  // namespace lase::kernels
