// Asynchronous copies to shared memory, and matrix products on tensor cores.
#pragma once

#include <cstdint>

#include "lase/kernels/precision.h"

namespace lase::kernels::cuda {

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x % 32); }
__device__ __forceinline__ int warp_id() { return static_cast<int>(threadIdx.x / 32); }

// Copies kBytes from global to shared memory, of which those after the first `bytes` are zeros.
template <int kBytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, int bytes) {
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared), "l"(from),
                 "r"(bytes));
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(shared), "l"(from),
                 "n"(kBytes), "r"(bytes));
  }
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;\n"); }
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending));
}

// z += a b for a [16, 8] and b [8, 8] in tf32.
__device__ __forceinline__ void multiply(float (&z)[4], const uint32_t (&a)[4],
                                         const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The same in bf16, with two terms of the sum in 32 bits: the first one in the lower half.
__device__ __forceinline__ uint32_t round_pair(float x0, float x1) {
  uint32_t x;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;\n" : "=r"(x) : "f"(x1), "f"(x0));
  return x;
}
__device__ __forceinline__ void multiply_bf16(float (&z)[4], const uint32_t (&a)[2], uint32_t b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}
// For a [16, 16] and b [16, 8].
__device__ __forceinline__ void multiply_bf16(float (&z)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};\n"
      : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Loads four matrices [8, 8] of bf16 from shared memory; lane 8 i + r gives the address of row r of
// matrix i. Lane l receives elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4, or of that column.
template <bool kTransposed>
__device__ __forceinline__ void load_matrices(uint32_t (&x)[4], const void* row) {
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(shared));
  }
}

// A thread's numbers of a matrix operand: kRows rows of a, or columns of b, with two terms of the
// sum each. Which terms does not matter, as long as it is the same for a and b.
//
// For kTf32, the instruction reads the upper 19 bits of a number, and numbers are rounded instead
// of truncated. For kFp32, `low` is the rest, and three products of such operands have almost the
// accuracy of float32.
template <int kRows, Precision kPrecision>
struct Operand {
  uint32_t high[2 * kRows];
  uint32_t low[2 * kRows];

  __device__ __forceinline__ void set(int row, float x0, float x1) {
    set(row, x0);
    set(row + kRows, x1);
  }

 private:
  __device__ __forceinline__ void set(int i, float x) {
    constexpr uint32_t kUpper = 0xFFFFE000;
    constexpr uint32_t kHalf = 0x1000;
    high[i] = __float_as_uint(x);
    if constexpr (kPrecision == Precision::kFp32) {
      low[i] = __float_as_uint(x - __uint_as_float(high[i] & kUpper));
    } else {
      high[i] += kHalf;
    }
  }
};

template <int kRows>
struct Operand<kRows, Precision::kBf16> {
  uint32_t high[kRows];

  __device__ __forceinline__ void set(int row, float x0, float x1) {
    high[row] = round_pair(x0, x1);
  }
};

// z += a b for a [16, 8] and b [8, 8].
template <Precision kPrecision>
__device__ __forceinline__ void multiply(float (&z)[4], const Operand<2, kPrecision>& a,
                                         const Operand<1, kPrecision>& b) {
  if constexpr (kPrecision == Precision::kBf16) {
    multiply_bf16(z, a.high, b.high[0]);
  } else {
    if constexpr (kPrecision == Precision::kFp32) {
      multiply(z, a.low, b.high);
      multiply(z, a.high, b.low);
    }
    multiply(z, a.high, b.high);
  }
}

}  // namespace lase::kernels::cuda
