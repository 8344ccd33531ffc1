// A vector of floats in the instruction set that this file is compiled for. Included only by
// link_tile.h and row_kernels.h. Nothing here may be visible to other translation units, hence the
// unnamed namespace and no headers with inline math functions: the linker would keep a single copy
// for all instruction sets.
#pragma once

#include <cstdint>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace lase::kernels {
namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
constexpr int kRows = 8;     // rows of a register tile
constexpr int kVectors = 3;  // vectors of columns of a register tile: 24 sums in 32 registers
#elif defined(__AVX2__)
constexpr int kLanes = 8;
constexpr int kRows = 4;
constexpr int kVectors = 3;  // 12 sums in 16 registers
#else
constexpr int kLanes = 4;
constexpr int kRows = 4;
constexpr int kVectors = 2;
#endif

using Vec = float __attribute__((vector_size(kLanes * sizeof(float))));
using Ints = int32_t __attribute__((vector_size(kLanes * sizeof(int32_t))));
using VecInMemory __attribute__((aligned(4), may_alias)) = Vec;

#define LASE_INLINE inline __attribute__((always_inline))

LASE_INLINE Vec load(const float* from) { return *reinterpret_cast<const VecInMemory*>(from); }
LASE_INLINE void store(float* to, Vec x) { *reinterpret_cast<VecInMemory*>(to) = x; }
LASE_INLINE Vec splat(float x) { return x - Vec{}; }

// The first `count` lanes; the others are 0 and their memory is not accessed.
LASE_INLINE Vec load(const float* from, int count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), from);
#else
  Vec x{};
  for (int i = 0; i < count; ++i) x[i] = from[i];
  return x;
#endif
}
LASE_INLINE void store(float* to, Vec x, int count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), x);
#else
  for (int i = 0; i < count; ++i) to[i] = x[i];
#endif
}

LASE_INLINE float sum(Vec x) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps(x);
#else
  float lane[kLanes];
  store(lane, x);
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
#endif
}

// 2^r for r in [0, 1), with error below 1.1e-7.
LASE_INLINE Vec exp2_fraction(Vec r) {
  Vec y = splat(0.001893754058223277F);
  y = y * r + 0.008949590423284054F;
  y = y * r + 0.055860337077298726F;
  y = y * r + 0.2401418182014205F;
  y = y * r + 0.6931544896632355F;
  return y * r + 0.9999998983500241F;
}

// 2^min(t, 126). Propagates NaN.
LASE_INLINE Vec exp2(Vec t) {
  constexpr float kLargest = 126;
#if defined(__AVX512F__)
  t = _mm512_min_ps(splat(kLargest), t);
  constexpr int kFromFloor = 9;
  return _mm512_scalef_ps(exp2_fraction(_mm512_reduce_ps(t, kFromFloor)), t);
#else
  t = t > kLargest ? splat(kLargest) : t;
  t = t < -kLargest ? splat(-kLargest) : t;
  Ints n = __builtin_convertvector(t, Ints);
  n += __builtin_convertvector(n, Vec) > t;  // a true comparison is −1
  const Vec r = t - __builtin_convertvector(n, Vec);
  return reinterpret_cast<Vec>(reinterpret_cast<Ints>(exp2_fraction(r)) + (n << 23));
#endif
}

// 1 / (1 + 2^t), which is σ(x) for t = −x log2 e.
LASE_INLINE Vec sigmoid_of_exponent(Vec t) {
  const Vec d = exp2(t) + 1.0F;
#if defined(__AVX512F__)
  const Vec y = _mm512_rcp14_ps(d);
  return y * (2.0F - d * y);
#else
  return 1.0F / d;
#endif
}

// σ(x), corrected for the rounding error of x log2 e.
LASE_INLINE float sigmoid(float x) {
  constexpr float kFar = 200;  // σ is constant beyond; infinity would make `lost` NaN
  x = x > kFar ? kFar : x;
  x = x < -kFar ? -kFar : x;
  constexpr float kC = -1.44269502F;        // −log2 e, rounded
  constexpr float kRest = -1.92596303e-8F;  // rounding error of kC
  constexpr float kLn2 = 0.693147182F;
  const float t = x * kC;
  const float lost = __builtin_fmaf(x, kC, -t) + x * kRest;
  const float e = exp2(splat(t))[0];
  return 1.0F / (1.0F + (e + e * (lost * kLn2)));
}

LASE_INLINE void prefetch(const void* p) { __builtin_prefetch(p, 0, 2); }

// ⟨a, b⟩
LASE_INLINE float dot(const float* a, const float* b, int64_t width) {
  constexpr int kSums = 4;
  Vec lanes[kSums] = {};
  int64_t j = 0;
  for (; j + kSums * kLanes <= width; j += kSums * kLanes) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) lanes[s] += load(a + j + s * kLanes) * load(b + j + s * kLanes);
  }
  for (; j + kLanes <= width; j += kLanes) lanes[0] += load(a + j) * load(b + j);
  if (j < width) {
    const auto rest = static_cast<int>(width - j);
    lanes[1] += load(a + j, rest) * load(b + j, rest);
  }
  return sum((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
}

}  // namespace
}  // namespace lase::kernels
