#pragma once

#include <cstdint>

namespace lase::kernels::cuda {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFu;
inline constexpr int kLanes = 32;

__device__ inline int lane_of_thread() { return static_cast<int>(threadIdx.x) % kLanes; }
__device__ inline unsigned lanes_below(int lane) { return (1u << lane) - 1; }

// The sum of x over the lanes up to this one.
__device__ inline uint32_t sum_to_lane(uint32_t x) {
  const int lane = lane_of_thread();
  for (int step = 1; step < kLanes; step *= 2) {
    const uint32_t other = __shfl_up_sync(kAllLanes, x, step);
    if (lane >= step) x += other;
  }
  return x;
}

// Prefix sums over the tiles of a kernel in a single pass (decoupled look-back, Merrill and Garland
// 2016). A tile publishes its own sum, then its inclusive prefix, in one word of 64 bits:
//
//   stamp (30 bits) | kind (2 bits) | sum (32 bits)
//
// The stamp differs between kernels, so that no kernel has to clear the words. A tile waits for the
// tiles before it: their blocks must have started, hence the tiles of all blocks ascend, and blocks
// start in the order of their index.
class TileSums {
 public:
  static constexpr uint64_t kStamps = uint64_t{1} << 30;

  TileSums(uint64_t* words, uint64_t stamp) : words_(words), stamp_(stamp << 34) {}

  // The sum over the tiles before this one. Called by all lanes of one warp.
  __device__ uint32_t before(int64_t tile, uint32_t sum) const {
    const int lane = lane_of_thread();
    if (tile > 0 && lane == 0) publish(tile, kOwn, sum);
    uint32_t prefix = 0;
    bool complete = tile == 0;
    for (int64_t last = tile - 1; !complete; last -= kLanes) {
      const uint64_t word = wait_for(last - lane);
      const unsigned inclusive = __ballot_sync(kAllLanes, (word & kKind) == kInclusive);
      complete = inclusive != 0;
      const int farthest = complete ? __ffs(static_cast<int>(inclusive)) - 1 : kLanes - 1;
      const auto x = static_cast<uint32_t>(word);
      prefix += __reduce_add_sync(kAllLanes, lane <= farthest ? x : 0u);
    }
    if (lane == 0) publish(tile, kInclusive, prefix + sum);
    return prefix;
  }

 private:
  static constexpr uint64_t kOwn = uint64_t{1} << 32;
  static constexpr uint64_t kInclusive = uint64_t{2} << 32;
  static constexpr uint64_t kKind = uint64_t{3} << 32;

  __device__ void publish(int64_t tile, uint64_t kind, uint32_t sum) const {
    // Volatile accesses of 64 bits are atomic. The word carries all data, so no fence is needed.
    *const_cast<volatile uint64_t*>(words_ + tile) = stamp_ | kind | sum;
  }
  // Tiles before the first one count as inclusive sums of zero.
  __device__ uint64_t wait_for(int64_t tile) const {
    for (;;) {
      const uint64_t word =
          tile < 0 ? stamp_ | kInclusive : *const_cast<volatile uint64_t*>(words_ + tile);
      const bool ready = (word >> 34) == (stamp_ >> 34) && (word & kKind) != 0;
      if (__all_sync(kAllLanes, ready)) return word;
    }
  }

  uint64_t* words_;
  uint64_t stamp_;
};

}  // namespace lase::kernels::cuda
