// Coded attributes: each distinct row is multiplied once.
#pragma once

#include "lase/kernels/cpu/link_group.h"

namespace lase::kernels {
namespace {

// The rows first … of a table of codes as a group.
LASE_INLINE void take_codes(const AttributeView& f, int64_t first, GroupAttributes& group,
                            Scratch& scratch) {
  const int64_t left = f.codes - first;
  group.n = static_cast<int>(left < kGroup ? left : kGroup);
  for (int m = 0; m < group.n; ++m) group.values[m] = f.values + (first + m) * f.columns;
  gather(group, f.columns, scratch.f);
}

void tabulate(const AttributeView& f, const Shape& shape, const PackedTerm& term,
              Amplifier amplifier, float* room, float* table) {
  Scratch scratch{room, {}};
  GroupAttributes group;
  for (int64_t code = 0; code < f.codes; code += kGroup) {
    take_codes(f, code, group, scratch);
    for_each_panel(shape, [&]<int N, bool kTail>(const Columns<N, kTail>& columns) {
      product<N>(scratch, group, shape, term, columns.first, false, scratch.panel, {});
      for (int m = 0; m < group.n; ++m) {
        float* to = table + (code + m) * shape.d_padded + columns.first;
        for (int i = 0; i < N * kLanes; i += kLanes) {
          const Vec z = load(scratch.panel + m * N * kLanes + i);
          store(to + i, amplifier == Amplifier::kSigmoid ? sigmoid_of_exponent(z) : z);
        }
      }
    });
  }
}

void gather_codes(const AttributeView& f, const Shape& shape, const float* by_code, float* room,
                  float* du) {
  Scratch scratch{room, {}};
  GroupAttributes group;
  for (int64_t code = 0; code < f.codes; code += kGroup) {
    take_codes(f, code, group, scratch);
    for_each_panel(shape, [&]<int N, bool kTail>(const Columns<N, kTail>& columns) {
      dense_outer<N>(scratch, group.n, shape.k, by_code + code * shape.d_padded + columns.first,
                     shape.d_padded, du + columns.first * shape.k_padded);
    });
  }
}

}  // namespace
}  // namespace lase::kernels
