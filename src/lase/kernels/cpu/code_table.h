// Dictionary-encoded attributes: the product is computed once per distinct row.
#pragma once

#include "lase/kernels/cpu/link_tile.h"

namespace lase::kernels {
namespace {

// Loads the distinct rows from `first` on as a tile.
LASE_INLINE void take_codes(const AttributeView& f, int64_t first, TileAttributes& tile,
                            Scratch& scratch) {
  const int64_t left = f.codes - first;
  tile.n = static_cast<int>(left < kArcTile ? left : kArcTile);
  for (int m = 0; m < tile.n; ++m) tile.values[m] = f.values + (first + m) * f.columns;
  gather(tile, f.columns, scratch.f);
}

void tabulate(const AttributeView& f, const Shape& shape, const PackedTerm& term,
              Amplifier amplifier, float* buffer, float* table) {
  Scratch scratch{buffer, {}};
  TileAttributes tile;
  for (int64_t code = 0; code < f.codes; code += kArcTile) {
    take_codes(f, code, tile, scratch);
    for_each_column_tile(shape, [&]<int N, bool kTail>(const Columns<N, kTail>& columns) {
      product<N>(scratch, tile, shape, term, columns.first, false, scratch.product, {});
      for (int m = 0; m < tile.n; ++m) {
        float* to = table + (code + m) * shape.d_padded + columns.first;
        for (int i = 0; i < N * kLanes; i += kLanes) {
          const Vec z = load(scratch.product + m * N * kLanes + i);
          store(to + i, amplifier == Amplifier::kSigmoid ? sigmoid_of_exponent(z) : z);
        }
      }
    });
  }
}

void gather_codes(const AttributeView& f, const Shape& shape, const float* by_code, float* buffer,
                  float* du) {
  Scratch scratch{buffer, {}};
  TileAttributes tile;
  for (int64_t code = 0; code < f.codes; code += kArcTile) {
    take_codes(f, code, tile, scratch);
    for_each_column_tile(shape, [&]<int N, bool kTail>(const Columns<N, kTail>& columns) {
      dense_outer<N>(scratch, tile.n, shape.k, by_code + code * shape.d_padded + columns.first,
                     shape.d_padded, du + columns.first * shape.k_padded);
    });
  }
}

}  // namespace
}  // namespace lase::kernels
