// The products of the link kernel on tensor cores: U f(e), and its gradient dU += Dᵀ f. See
// link_tile.cuh for the layout of the operands.
#pragma once

#include <cstdint>

#include "lase/kernels/cuda/link_tile.cuh"
#include "lase/kernels/cuda/tensor_core.cuh"

namespace lase::kernels::cuda {

// U of a warp's 16 columns, times a factor: in registers if it has at most 4 tiles of 8 attributes,
// otherwise in shared memory, as the threads read it.
//
// Of 32 attributes, a thread reads elements 8 q … 8 q + 7 of an arc, with q = lane % 4: two for
// each of four tiles.
template <int kTiles, Precision kPrecision, bool kInRegisters>
class Amplification {
 public:
  static_assert(kTiles == 1 || kTiles % 4 == 0);
  static constexpr int kSharedFloats = kInRegisters ? 0 : kTiles * kWarps * 32 * 4;
  static constexpr int kChunk = kTiles == 1 ? 1 : 4;  // tiles that are read together

  __device__ Amplification(const float* u, const float* shift, float factor, int64_t column,
                           int64_t d, int k, float* shared)
      : shared_(reinterpret_cast<float4*>(shared)), tiles_((k + 7) / 8) {
    const int lane = lane_id();
    const int64_t row = column + own_column();
    const auto at = [&](int64_t c, int j) { return c < d && j < k ? factor * u[c * k + j] : 0.0F; };
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      const int j = t / kChunk * 8 * kChunk + lane % 4 * 2 * kChunk + 2 * (t % kChunk);
      const float a[4] = {at(row, j), at(row + 1, j), at(row, j + 1), at(row + 1, j + 1)};
      if constexpr (kInRegisters) {
#pragma unroll
        for (int i = 0; i < 2; ++i) registers_[t].set(i, a[i], a[2 + i]);
      } else {
        shared_[(t * kWarps + warp_id()) * 32 + lane] = make_float4(a[0], a[1], a[2], a[3]);
      }
    }
    shift_[0] = shift != nullptr && row < d ? factor * shift[row] : 0.0F;
    shift_[1] = shift != nullptr && row + 1 < d ? factor * shift[row + 1] : 0.0F;
  }

  // z [group][2 columns × 2 arcs] = factor (U f(e) + shift) for a tile of arcs.
  __device__ __forceinline__ void product(const float* f, int stride,
                                          float (&z)[kTileGroups][4]) const {
    const int lane = lane_id();
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g) {
      z[g][0] = z[g][1] = shift_[0];
      z[g][2] = z[g][3] = shift_[1];
    }
    const float* from = f + lane / 4 * stride + lane % 4 * 2 * kChunk;
#pragma unroll
    for (int first = 0; first < kTiles; first += kChunk) {
      if (first >= tiles_) break;
      Operand<2, kPrecision> a[kChunk];
#pragma unroll
      for (int t = 0; t < kChunk; ++t) {
        if constexpr (kInRegisters) {
          a[t] = registers_[first + t];
        } else {
          const float4 x = shared_[((first + t) * kWarps + warp_id()) * 32 + lane];
          a[t].set(0, x.x, x.z);
          a[t].set(1, x.y, x.w);
        }
      }
#pragma unroll
      for (int g = 0; g < kTileGroups; ++g) {
        float x[2 * kChunk];
        const float* row = from + g * kGroup * stride + 8 * first;
        if constexpr (kChunk == 4) {
          *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(row);
          *reinterpret_cast<float4*>(x + 4) = *reinterpret_cast<const float4*>(row + 4);
        } else {
          *reinterpret_cast<float2*>(x) = *reinterpret_cast<const float2*>(row);
        }
#pragma unroll
        for (int t = 0; t < kChunk; ++t) {
          Operand<1, kPrecision> b;
          b.set(0, x[2 * t], x[2 * t + 1]);
          multiply<kPrecision>(z[g], a[t], b);
        }
      }
    }
  }

 private:
  Operand<2, kPrecision> registers_[kInRegisters ? kTiles : 1];
  float shift_[2];
  float4* shared_;
  int tiles_;
};

// The same for attributes that the pipeline has rounded to bf16, which are read as matrices of
// 8 arcs × 8 attributes, with products of 16 attributes.
template <int kTiles, bool kInRegisters>
class Amplification<kTiles, Precision::kBf16, kInRegisters> {
 public:
  static_assert(kTiles == 1 || kTiles % 4 == 0);
  static constexpr int kSharedFloats = kInRegisters ? 0 : kTiles / 2 * kWarps * 32 * 4;

  __device__ Amplification(const float* u, const float* shift, float factor, int64_t column,
                           int64_t d, int k, float* shared)
      : shared_(reinterpret_cast<uint4*>(shared)), k_(k) {
    const int lane = lane_id();
    const int64_t row = column + own_column();
    const auto pair = [&](int64_t c, int j) {
      const auto at = [&](int i) { return c < d && i < k ? factor * u[c * k + i] : 0.0F; };
      return round_pair(at(j), at(j + 1));
    };
#pragma unroll
    for (int t = 0; t < kPairs; ++t) {
      const int j = 16 * t + lane % 4 * 2;
      const uint32_t a[4] = {pair(row, j), pair(row + 1, j), pair(row, j + 8),
                             pair(row + 1, j + 8)};
      if constexpr (kInRegisters) {
#pragma unroll
        for (int i = 0; i < 4; ++i) registers_[t][i] = a[i];
      } else {
        shared_[(t * kWarps + warp_id()) * 32 + lane] = make_uint4(a[0], a[1], a[2], a[3]);
      }
    }
    shift_[0] = shift != nullptr && row < d ? factor * shift[row] : 0.0F;
    shift_[1] = shift != nullptr && row + 1 < d ? factor * shift[row + 1] : 0.0F;
  }

  // z [group][2 columns × 2 arcs] = factor (U f(e) + shift) for a tile of arcs.
  __device__ __forceinline__ void product(const float* f, int stride,
                                          float (&z)[kTileGroups][4]) const {
    const int lane = lane_id();
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g) {
      z[g][0] = z[g][1] = shift_[0];
      z[g][2] = z[g][3] = shift_[1];
    }
    if constexpr (kTiles == 1) {
      uint32_t b[kTileGroups];
      load_matrices<false>(b, f + lane * stride);
      const uint32_t a[2] = {registers_[0][0], registers_[0][1]};
#pragma unroll
      for (int g = 0; g < kTileGroups; ++g) multiply_bf16(z[g], a, b[g]);
      return;
    }
    // Lanes 8 i … 8 i + 7 give the addresses of the rows of matrix i: attributes 8 i … 8 i + 7.
    const float* from = f + lane % 8 * stride + lane / 8 * 4;
#pragma unroll
    for (int t = 0; t < kPairs; t += 2) {
      if (16 * t >= k_) break;
      uint32_t a[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if constexpr (kInRegisters) {
#pragma unroll
          for (int j = 0; j < 4; ++j) a[i][j] = registers_[t + i][j];
        } else {
          const uint4 x = shared_[((t + i) * kWarps + warp_id()) * 32 + lane];
          a[i][0] = x.x;
          a[i][1] = x.y;
          a[i][2] = x.z;
          a[i][3] = x.w;
        }
      }
#pragma unroll
      for (int g = 0; g < kTileGroups; ++g) {
        uint32_t b[4];
        load_matrices<false>(b, from + g * kGroup * stride + 8 * t);
        multiply_bf16(z[g], a[0], b[0], b[1]);
        multiply_bf16(z[g], a[1], b[2], b[3]);
      }
    }
  }

 private:
  static constexpr int kPairs = kTiles == 1 ? 1 : kTiles / 2;  // of tiles of 8 attributes
  uint32_t registers_[kInRegisters ? kPairs : 1][4];
  float shift_[2];
  uint4* shared_;
  int k_;
};

// dU += Dᵀ f for a tile of arcs. Of 32 attributes, a thread reads elements 4 i … 4 i + 3, with
// i = lane / 4: one for each of four tiles.
template <int kTiles, Precision kPrecision>
__device__ __forceinline__ void add_outer(const Operand<2, kPrecision> (&terms)[kTileGroups],
                                          const float* f, int stride, int k,
                                          float (&du)[kTiles][4]) {
  constexpr int kChunk = kTiles == 1 ? 1 : 4;
  const float* from = f + lane_id() % 4 * 2 * stride + lane_id() / 4 * kChunk;
#pragma unroll
  for (int first = 0; first < kTiles; first += kChunk) {
    if (8 * first >= k) break;
    // A sum of its own for each tile: the instruction truncates when it adds.
    float sum[kChunk][4] = {};
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g) {
      const float* row = from + g * kGroup * stride + 8 * first;
      float x[2][kChunk];  // [arc][tile]
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if constexpr (kChunk == 4) {
          *reinterpret_cast<float4*>(x[i]) = *reinterpret_cast<const float4*>(row + i * stride);
        } else {
          x[i][0] = row[i * stride];
        }
      }
#pragma unroll
      for (int n = 0; n < kChunk; ++n) {
        Operand<1, kPrecision> b;
        b.set(0, x[0][n], x[1][n]);
        multiply<kPrecision>(sum[n], terms[g], b);
      }
    }
#pragma unroll
    for (int n = 0; n < kChunk; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) du[first + n][i] += sum[n][i];
    }
  }
}

// The same for attributes that the pipeline has rounded to bf16, with products of 16 arcs.
template <int kTiles>
__device__ __forceinline__ void add_outer(const Operand<2, Precision::kBf16> (&terms)[kTileGroups],
                                          const float* f, int stride, int k,
                                          float (&du)[kTiles][4]) {
  static_assert(kTileGroups == 4);
  const int lane = lane_id();
  uint32_t a[2][4];  // the terms of two groups each
#pragma unroll
  for (int i = 0; i < 8; ++i) a[i / 4][i % 4] = terms[i / 2].high[i % 2];
  if constexpr (kTiles == 1) {
    float sum[4] = {};
    uint32_t b[kTileGroups];
    load_matrices<true>(b, f + lane * stride);
    multiply_bf16(sum, a[0], b[0], b[1]);
    multiply_bf16(sum, a[1], b[2], b[3]);
#pragma unroll
    for (int i = 0; i < 4; ++i) du[0][i] += sum[i];
    return;
  }
  // Lanes 8 i … 8 i + 7 give the addresses of the rows of matrix i: the arcs of group i % 2, and
  // the attributes of tile i / 2.
  const float* from = f + (lane / 8 % 2 * kGroup + lane % 8) * stride + lane / 16 * 4;
#pragma unroll
  for (int n = 0; n < kTiles; n += 2) {
    if (8 * n >= k) break;
    float sum[2][4] = {};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      uint32_t b[4];
      load_matrices<true>(b, from + 2 * i * kGroup * stride + 4 * n);
      multiply_bf16(sum[0], a[i], b[0], b[1]);
      multiply_bf16(sum[1], a[i], b[2], b[3]);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) du[n + i / 4][i % 4] += sum[i / 4][i % 4];
  }
}

// The attribute of element i of du[n].
template <int kTiles, Precision kPrecision>
__device__ __forceinline__ int outer_attribute(int n, int i) {
  constexpr int kChunk = kTiles == 1 || kPrecision == Precision::kBf16 ? 1 : 4;
  return n / kChunk * 8 * kChunk + (2 * (lane_id() % 4) + i % 2) * kChunk + n % kChunk;
}

}  // namespace lase::kernels::cuda
