// Launching the kernels of link_tile.cuh.
#pragma once

#include <algorithm>
#include <type_traits>

#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/link_tile.cuh"
#include "lase/kernels/cuda/slots.h"

namespace lase::kernels::cuda {

// Number of thread blocks that share the groups of one block of columns, with `resident` thread
// blocks per multiprocessor. A function of the device and the shape, so that sums of partial results
// have a fixed order.
inline unsigned parts(const Groups& groups, int64_t columns, int64_t resident) {
  int device = 0;
  int multiprocessors = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  const int64_t most = std::max<int64_t>(1, resident * multiprocessors / columns);
  return static_cast<unsigned>(
      std::clamp<int64_t>(groups.most / kTileGroups, 1, most));
}

template <class Kernel, class... Arguments>
void launch_tiles(Kernel kernel, const char* name, dim3 grid, int shared, const Launch& launch,
                  const Arguments&... arguments) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), name);
  kernel<<<grid, kThreads, static_cast<size_t>(shared), launch.stream>>>(arguments...);
  check_launch(name);
}

template <auto value>
using Constant = std::integral_constant<decltype(value), value>;

// Calls run(tiles, precision) with constants: the number of tiles of 8 attributes that the product
// U f(e) has, rounded up, and 0 without it.
template <class Run>
void dispatch_tiles(int tiles, Precision precision, const Run& run) {
  const auto with_precision = [&](auto most) {
    if (precision == Precision::kFp32) run(most, Constant<Precision::kFp32>());
    if (precision == Precision::kTf32) run(most, Constant<Precision::kTf32>());
  };
  if (tiles == 0) {
    run(Constant<0>(), Constant<Precision::kFp32>());
  } else if (tiles <= 1) {
    with_precision(Constant<1>());
  } else if (tiles <= 4) {
    with_precision(Constant<4>());
  } else if (tiles <= 8) {
    with_precision(Constant<8>());
  } else if (tiles <= 16) {
    with_precision(Constant<16>());
  } else {
    with_precision(Constant<kMostAttributes / 8>());
  }
}

}  // namespace lase::kernels::cuda
