// Shared by the forward and backward passes of the link kernel.
//
// A thread block computes kColumns columns for a range of groups of arcs. It processes tiles of
// kTileGroups groups: rows of the gathered matrix and of f(e) are copied to shared memory a few
// tiles ahead, while tensor cores compute U f(e) for the current tile. In this product, columns are
// the rows of the matrix instruction and arcs its columns:
//
//   z [16 columns, 8 arcs] += U [16 columns, 8 attributes] fᵀ [8 attributes, 8 arcs]
//
// so that a thread holds 2 columns × 2 arcs of each group: columns and arcs 2 i and 2 i + 1, with
// i = lane / 4 for columns and lane % 4 for arcs. The accumulators are then already laid out as the
// operand of dU += Dᵀ f, in which arcs are summed and their order within a group does not matter.
// Likewise, the order of attributes in the sum is such that a thread reads them as vectors.
#pragma once

#include <cstdint>

#include "lase/kernels/cuda/attributes.cuh"
#include "lase/kernels/cuda/groups.h"
#include "lase/kernels/cuda/tensor_core.cuh"

namespace lase::kernels::cuda {

constexpr int kTileGroups = 4;
constexpr int kTileSlots = kTileGroups * kGroup;  // 32
constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kColumns = 16 * kWarps;     // of a thread block
constexpr int kRowStride = kColumns + 4;  // of gathered rows in shared memory: no bank conflicts

// What all kernels over groups read.
struct TileInput {
  Groups groups;
  AttributeView f;
  bool reads_f = false;
  const float* other = nullptr;  // the gathered matrix, in aligned rows; null: not read
  int64_t other_stride = 0;
  int64_t d = 0;  // its columns
};

// The factor of U f(e) that amplify() expects.
template <Amplifier kAmplifier, Precision kPrecision>
inline constexpr float kProductFactor = kAmplifier != Amplifier::kSigmoid ? 1.0F
                                        : kPrecision == Precision::kFp32  ? -1.4426950408889634F
                                                                          : 0.5F;
// x a(e) / kValueUnit and x a'(e) / kSlopeUnit, given U f(e) times kProductFactor. Sums are
// multiplied by the units at their end.
struct Amplified {
  float value;
  float slope;
};
template <Amplifier kAmplifier, Precision kPrecision>
inline constexpr bool kUsesTanh =
    kAmplifier == Amplifier::kSigmoid&& kPrecision != Precision::kFp32;
template <Amplifier kAmplifier, Precision kPrecision>
inline constexpr float kValueUnit = kUsesTanh<kAmplifier, kPrecision> ? 0.5F : 1.0F;
template <Amplifier kAmplifier, Precision kPrecision>
inline constexpr float kSlopeUnit = kUsesTanh<kAmplifier, kPrecision> ? 0.25F : 1.0F;

template <Amplifier kAmplifier, Precision kPrecision>
__device__ __forceinline__ Amplified amplify(float x, float z) {
  if constexpr (kAmplifier == Amplifier::kNone) {
    return {x, 0};
  } else if constexpr (kAmplifier == Amplifier::kLinear) {
    return {x * z, x};
  } else if constexpr (kUsesTanh<kAmplifier, kPrecision>) {
    float t;  // a = (1 + t) / 2, a' = (1 + t) (1 − t) / 4
    asm("tanh.approx.f32 %0, %1;\n" : "=f"(t) : "f"(z));
    const float value = fmaf(x, t, x);
    return {value, fmaf(-value, t, value)};
  } else {
    float power;
    float a;
    asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(power) : "f"(z));
    asm("rcp.approx.ftz.f32 %0, %1;\n" : "=f"(a) : "f"(1 + power));
    const float value = x * a;
    return {value, fmaf(-value, a, value)};
  }
}

// The first group at or after `g` that starts a run, among those of the schedule. All threads call
// it; the result is the same for all.
__device__ inline int64_t next_run(const Groups& groups, int64_t g, int64_t all) {
  __shared__ int found;
  __syncthreads();
  if (threadIdx.x == 0) found = kRunGroups;
  __syncthreads();
  const int64_t at = g + threadIdx.x;
  if (threadIdx.x < kRunGroups &&
      (at >= all || (groups.groups[at].flags & Group::kStartsRun) != 0)) {
    atomicMin(&found, static_cast<int>(threadIdx.x));
  }
  __syncthreads();
  return min(g + found, all);
}

// The number of attributes in shared memory: zero-padded to what the products read.
__host__ __device__ inline int padded_attributes(int64_t k) {
  return k <= 8 ? 8 : static_cast<int>((k + 31) / 32 * 32);
}

// Makes the sparse rows of a tile dense. Not inlined, so that other layouts need no registers for
// it.
__device__ __noinline__ inline void expand_attributes(const AttributeView& f, const int32_t* other,
                                                      const int64_t* row, float* out, int stride) {
  const int lane = lane_id();
  constexpr int kRows = kTileSlots / kWarps;
  for (int m = kRows * warp_id(); m < kRows * (warp_id() + 1); ++m) {
    float* to = out + m * stride;
    for (int j = lane; j < stride - 4; j += 32) to[j] = 0;
    __syncwarp();
    if (other[m] == 0) continue;
    const int64_t end = f.row_ptr[row[m] + 1];
    for (int64_t i = f.row_ptr[row[m]] + lane; i < end; i += 32) to[f.column[i]] = f.values[i];
  }
}

// Copies tiles to shared memory, kStages − 1 tiles ahead, and their slots still earlier. With
// kRounded > 0, f(e) of at most 8 kRounded attributes is rounded to bf16, in the first half of the
// memory of each row.
template <int kStages, int kRounded = 0>
class TilePipeline {
 public:
  static constexpr int kRing = 2 * kStages - 1;

  static int shared_bytes(const TileInput& in) {
    return kRing * static_cast<int>(sizeof(Entry)) +
           kStages * stage_floats(in) * static_cast<int>(sizeof(float));
  }

  // All threads of the block construct it; `column` is the first column of the block.
  __device__ TilePipeline(const TileInput& in, int64_t column, unsigned char* shared)
      : in_(in),
        ring_(reinterpret_cast<Entry*>(shared)),
        stages_(reinterpret_cast<float*>(shared + kRing * sizeof(Entry))),
        other_(in.other + column + 4 * lane_id()),
        other_stride_(static_cast<uint32_t>(in.other_stride)),
        copies_(in.other != nullptr && column + 4 * lane_id() < in.d),
        f_stride_(f_stride(in)),
        stage_floats_(stage_floats(in)),
        f_aligned_(is_aligned(in.f.values, in.f.columns)) {
    for (int i = static_cast<int>(threadIdx.x); i < kStages * stage_floats_; i += kThreads) {
      stages_[i] = 0;  // columns that are not copied stay 0
    }
    const int64_t all = in.groups.start[in.groups.rows];
    const int64_t parts = gridDim.x;
    const int64_t part = blockIdx.x;
    first_ = next_run(in.groups, part * all / parts, all);
    last_ = next_run(in.groups, (part + 1) * all / parts, all);
    tiles_ =
        last_ > first_ ? static_cast<int>((last_ - first_ + kTileGroups - 1) / kTileGroups) : 0;
    for (int t = 0; t < 2 * kStages - 2; ++t) copy_slots(t, t);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
    for (int t = 0; t < kStages - 1; ++t) {
      copy_rows(t, t, t);
      commit_copies();
    }
  }

  __device__ int tiles() const { return tiles_; }
  // The first group of the current tile, and the end of the groups of this thread block.
  __device__ int64_t group() const { return first_ + int64_t{tile_} * kTileGroups; }
  __device__ int64_t last_group() const { return last_; }

  // Waits until the next tile is there. All threads have finished the previous one when this
  // returns.
  __device__ __forceinline__ void advance() {
    const int previous_stage = stage_;
    const int previous_entry = entry_;
    stage_ = stage_ + 1 == kStages ? 0 : stage_ + 1;
    entry_ = entry_ + 1 == kRing ? 0 : entry_ + 1;
    wait_for_copies<kStages - 2>();
    if constexpr (kRounded > 0) round_attributes();
    __syncthreads();
    ++tile_;
    const int ahead = entry_ + kStages - 1;
    copy_rows(tile_ + kStages - 1, previous_stage, ahead >= kRing ? ahead - kRing : ahead);
    copy_slots(tile_ + 2 * kStages - 2, previous_entry);
    commit_copies();
  }

  // Of the current tile.
  __device__ __forceinline__ const float* c() const { return ring_[entry_].c; }
  __device__ __forceinline__ Group group(int g) const { return ring_[entry_].groups[g]; }
  // [kTileSlots, kRowStride]: columns column … column + kColumns − 1 of the gathered rows.
  __device__ __forceinline__ const float* other() const { return stages_ + stage_ * stage_floats_; }
  // [kTileSlots, f_stride]; rounded numbers are at the beginning of each row.
  __device__ __forceinline__ const float* f() const {
    return other() + (in_.other != nullptr ? kTileSlots * kRowStride : 0);
  }
  __device__ __forceinline__ int f_stride() const { return f_stride_; }

 private:
  // The slots of a tile.
  struct alignas(16) Entry {
    int64_t f[kTileSlots];
    float c[kTileSlots];
    int32_t other[kTileSlots];
    Group groups[kTileGroups];
  };
  __host__ __device__ static int f_stride(const TileInput& in) {
    return in.reads_f ? padded_attributes(in.f.columns) + 4 : 0;
  }
  __host__ __device__ static int stage_floats(const TileInput& in) {
    return kTileSlots * (f_stride(in) + (in.other != nullptr ? kRowStride : 0));
  }

  // Slots of groups that do not exist are filled with zeros, as those without an arc.
  __device__ __forceinline__ void copy_slots(int tile, int entry) {
    if (tile >= tiles_) return;
    const int64_t first = first_ + int64_t{tile} * kTileGroups;
    Entry& to = ring_[entry];
    const int lane = lane_id();
    if (warp_id() == 0) {
      if (lane < 16) {
        const bool exists = first + lane / 4 < last_;
        copy_async<16>(to.f + 2 * lane, in_.groups.f + first * kGroup + 2 * lane, exists ? 16 : 0);
      } else if (lane < 24) {
        const int i = lane - 16;
        const bool exists = first + i / 2 < last_;
        copy_async<16>(to.c + 4 * i, in_.groups.c + first * kGroup + 4 * i, exists ? 16 : 0);
      } else {
        const int i = lane - 24;
        const bool exists = first + i / 2 < last_;
        copy_async<16>(to.other + 4 * i, in_.groups.other + first * kGroup + 4 * i,
                       exists ? 16 : 0);
      }
    } else if (warp_id() == 1 && lane < kTileGroups) {
      copy_async<8>(to.groups + lane, in_.groups.groups + first + lane,
                    first + lane < last_ ? 8 : 0);
    }
  }

  __device__ __forceinline__ void copy_rows(int tile, int stage, int entry) {
    if (tile >= tiles_) return;
    float* rows = stages_ + stage * stage_floats_;
    const Entry& slots = ring_[entry];
    if (in_.other != nullptr) {
      copy_others(slots, rows);
      rows += kTileSlots * kRowStride;
    }
    if (!in_.reads_f) return;
    if (in_.f.layout == Layout::kSparse) {
      expand_attributes(in_.f, slots.other, slots.f, rows, f_stride_);
    } else if (f_aligned_) {
      copy_attributes<4>(slots, rows);
    } else {
      copy_attributes<1>(slots, rows);
    }
  }

  // A row per warp, four columns per thread.
  __device__ __forceinline__ void copy_others(const Entry& slots, float* rows) {
    if (!copies_) return;
#pragma unroll
    for (int i = 0; i < kTileSlots / kWarps; ++i) {
      const int m = warp_id() + i * kWarps;
      const int row = slots.other[m];
      const float* from = other_ + uint64_t{static_cast<uint32_t>(max(row, 1) - 1)} * other_stride_;
      copy_async<16>(rows + m * kRowStride + 4 * lane_id(), from, row == 0 ? 0 : 16);
    }
  }

  // Eight threads per row.
  template <int kVector>
  __device__ __forceinline__ void copy_attributes(const Entry& slots, float* rows) {
    static_assert(kThreads == 8 * kTileSlots);
    const int m = static_cast<int>(threadIdx.x / 8);
    const auto k = static_cast<int>(in_.f.columns);
    const bool empty = slots.other[m] == 0;
    const float* from = in_.f.values + (empty ? 0 : slots.f[m]) * k;
#pragma unroll 1
    for (int i = kVector * static_cast<int>(threadIdx.x % 8); i < k; i += 8 * kVector) {
      copy_async<4 * kVector>(rows + m * f_stride_ + i, from + i, empty ? 0 : 4 * kVector);
    }
  }

  // Rounds f(e) of the current tile. The eight threads of a row have copied it, and its warp is the
  // only one that has written or reads it so far.
  __device__ __forceinline__ void round_attributes() {
    constexpr int kVectors = (kRounded + 3) / 4;  // per thread, of 4 attributes
    float* row = stages_ + stage_ * stage_floats_ +
                 (in_.other != nullptr ? kTileSlots * kRowStride : 0) +
                 static_cast<int>(threadIdx.x / 8) * f_stride_;
    const int first = 4 * static_cast<int>(threadIdx.x % 8);
    const int padded = f_stride_ - 4;
    uint2 rounded[kVectors];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (first + 32 * i >= padded) continue;
      const auto x = *reinterpret_cast<const float4*>(row + first + 32 * i);
      rounded[i] = make_uint2(round_pair(x.x, x.y), round_pair(x.z, x.w));
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (first + 32 * i >= padded) continue;
      *reinterpret_cast<uint2*>(row + (first + 32 * i) / 2) = rounded[i];
    }
  }

  const TileInput& in_;
  Entry* ring_;
  float* stages_;
  const float* other_;  // the first row, at this thread's columns
  uint32_t other_stride_;
  bool copies_;
  int f_stride_;
  int stage_floats_;
  bool f_aligned_;
  int64_t first_ = 0;
  int64_t last_ = 0;
  int tiles_ = 0;
  int tile_ = -1;
  int stage_ = kStages - 1;
  int entry_ = kRing - 1;
};

// The first of a thread's two columns of a thread block.
__device__ __forceinline__ int own_column() { return 16 * warp_id() + lane_id() / 4 * 2; }

// The dot products over columns of each arc of a tile: summed over the columns of a warp, then over
// warps, one tile later, when all have written theirs.
class DotProducts {
 public:
  static constexpr int kSharedFloats = 2 * kWarps * kTileSlots;

  __device__ DotProducts(float* shared, float* out) : shared_(shared), out_(out) {}
  __device__ bool wanted() const { return out_ != nullptr; }

  // x: of this thread's columns, for arcs 2 (lane % 4) and 2 (lane % 4) + 1 of each group.
  __device__ __forceinline__ void set(const float (&x)[kTileGroups][2]) const {
    // Each step halves the number of values: a thread keeps one half, its partner the other.
    static_assert(kTileGroups == 4);
    const int lane = lane_id();
    float y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) y[i] = halve(x[i / 2][i % 2], x[2 + i / 2][i % 2], 16);
    float z[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) z[i] = halve(y[i], y[2 + i], 8);
    const int kept = lane / 4;  // group kept / 2, arc kept % 2
    shared_[(half_ * kWarps + warp_id()) * kTileSlots + kept / 2 * kGroup + 2 * (lane % 4) +
            kept % 2] = halve(z[0], z[1], 4);
  }
  // Call after all threads have set those of a tile: writes them times `unit`, for groups `first`
  // to at most `last`, and starts the next tile.
  __device__ __forceinline__ void write(int64_t first, int64_t last, float unit) {
    const auto t = static_cast<int>(threadIdx.x);
    if (t < kTileSlots && first + t / kGroup < last) {
      const float* from = shared_ + half_ * kWarps * kTileSlots + t;
      float sum = from[0];
#pragma unroll
      for (int w = 1; w < kWarps; ++w) sum += from[w * kTileSlots];
      out_[first * kGroup + t] = unit * sum;
    }
    half_ = 1 - half_;
  }

 private:
  // `first` of this thread and of lane ^ step, added; with that bit of the lane set, `second`.
  __device__ __forceinline__ static float halve(float first, float second, int step) {
    const bool upper = (lane_id() & step) != 0;
    const float other = __shfl_xor_sync(~0U, upper ? first : second, step);
    return (upper ? second : first) + other;
  }

  float* shared_;
  float* out_;  // [slots]
  int half_ = 0;
};

// A sum over the arcs of a row for this thread's two columns, kept in registers within a run.
class RunSum {
 public:
  __device__ __forceinline__ void start(const Group& group, int64_t index) {
    if ((group.flags & Group::kStartsRun) == 0) return;
    s_[0] = s_[1] = 0;
    first_ = index;
  }
  __device__ __forceinline__ void add(float x0, float x1) {
    s_[0] += x0;
    s_[1] += x1;
  }
  // Writes the sum times `unit` if the group ends a run: to the row, or to the partial sum of a
  // later run. With `adds`, it is added to the row.
  __device__ __forceinline__ void finish(const Group& group, int64_t column, int64_t d, float unit,
                                         float* out, int64_t stride, float* carry,
                                         bool adds = false) {
    if ((group.flags & Group::kEndsRun) == 0) return;
    float sum[2] = {s_[0], s_[1]};
#pragma unroll
    for (int step = 1; step < 4; step *= 2) {
      sum[0] += __shfl_xor_sync(~0U, sum[0], step);
      sum[1] += __shfl_xor_sync(~0U, sum[1], step);
    }
    const int part = lane_id() % 4;
    if (part >= 2 || column + part >= d) return;
    const bool later = (group.flags & Group::kLaterRun) != 0;
    float* to = later ? carry + carry_of(first_) * stride : out + group.row * stride;
    to += column + part;
    const float value = unit * (part == 0 ? sum[0] : sum[1]);
    *to = adds && !later ? *to + value : value;
  }

 private:
  float s_[2] = {0, 0};
  int64_t first_ = 0;  // group of the run
};

}  // namespace lase::kernels::cuda
