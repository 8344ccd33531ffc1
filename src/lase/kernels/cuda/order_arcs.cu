#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "lase/kernels/cuda/memory.h"
#include "lase/kernels/cuda/sample_kernels.h"

namespace lase::kernels::cuda {

size_t order_arcs(const ArcOrder& in, cudaStream_t stream) {
  const auto bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(in.largest)));
  size_t bytes = in.bytes;
  check(cub::DeviceRadixSort::SortPairs(in.temporary, bytes,
                                        reinterpret_cast<const uint32_t*>(in.source),
                                        reinterpret_cast<uint32_t*>(in.keys), in.arcs, in.by_source,
                                        static_cast<int32_t>(in.n), 0, bits, stream),
        "arcs cannot be sorted on the GPU");
  return bytes;
}

}  // namespace lase::kernels::cuda
