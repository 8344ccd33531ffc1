// Launching the kernels of link_tile.cuh.
#pragma once

#include <algorithm>

#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/dispatch.h"
#include "lase/kernels/cuda/link_products.cuh"
#include "lase/kernels/cuda/link_tile.cuh"
#include "lase/kernels/cuda/slots.h"

namespace lase::kernels::cuda {

// Thread blocks per multiprocessor, as many as registers and shared memory suffice for, and stages
// of their pipelines.
template <int kTiles, Precision kPrecision>
inline constexpr int kResidentForward = kTiles <= 4                      ? 3
                                        : kPrecision == Precision::kBf16 ? 2
                                                                         : 1;
template <int kTiles, Precision kPrecision>
inline constexpr int kResidentBackward = kTiles > 4 ? 1 : (kPrecision == Precision::kFp32 ? 2 : 3);
template <int kTiles>
inline constexpr int kStagesOf = kTiles <= 4 ? 3 : 2;

// The classes that a kernel uses, with kTiles = 0 without amplifier. U is in registers if they
// suffice.
template <int kTiles, Precision kPrecision>
using Pipeline = TilePipeline<kStagesOf<kTiles>, kPrecision == Precision::kBf16 ? kTiles : 0>;
template <int kTiles, Precision kPrecision>
using ForwardProduct = Amplification<(kTiles > 0 ? kTiles : 1), kPrecision,
                                     (kTiles <= 4 || kPrecision == Precision::kBf16)>;
template <int kTiles, Precision kPrecision>
using BackwardProduct = Amplification<(kTiles > 0 ? kTiles : 1), kPrecision, (kTiles <= 4)>;

// Number of thread blocks that share the groups of one block of columns, with `resident` thread
// blocks per multiprocessor. A function of the device and the shape, so that sums of partial
// results have a fixed order.
inline unsigned parts(const Groups& groups, int64_t columns, int64_t resident) {
  int device = 0;
  int multiprocessors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  const int64_t most = std::max<int64_t>(1, resident * multiprocessors / columns);
  return static_cast<unsigned>(std::clamp<int64_t>(groups.most / kTileGroups, 1, most));
}

template <class Kernel, class... Arguments>
void launch_tiles(Kernel kernel, const char* name, dim3 grid, int shared, const Launch& launch,
                  const Arguments&... arguments) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), name);
  kernel<<<grid, kThreads, static_cast<size_t>(shared), launch.stream>>>(arguments...);
  check_launch(name);
}

// Calls run(amplifier, tiles, precision) with constants: the number of tiles of 8 attributes that
// the product U f(e) has, rounded up, and 0 without it.
template <class Run>
void dispatch(Amplifier amplifier, int64_t attributes, Precision precision, const Run& run) {
  const auto with_tiles = [&](auto amplify, auto rounding) {
    if (attributes <= 8) {
      run(amplify, Constant<1>(), rounding);
    } else if (attributes <= 32) {
      run(amplify, Constant<4>(), rounding);
    } else if (attributes <= 64) {
      run(amplify, Constant<8>(), rounding);
    } else {
      run(amplify, Constant<kMostAttributes / 8>(), rounding);
    }
  };
  if (amplifier == Amplifier::kNone) {
    run(Constant<Amplifier::kNone>(), Constant<0>(), Constant<Precision::kFp32>());
    return;
  }
  with_precision(precision, [&](auto rounding) {
    if (amplifier == Amplifier::kSigmoid) with_tiles(Constant<Amplifier::kSigmoid>(), rounding);
    if (amplifier == Amplifier::kLinear) with_tiles(Constant<Amplifier::kLinear>(), rounding);
  });
}

}  // namespace lase::kernels::cuda
