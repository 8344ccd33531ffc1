#include <algorithm>

#include "lase/kernels/cuda/attributes.cuh"
#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/slots.h"

namespace lase::kernels::cuda {
namespace {

constexpr int kThreads = 256;
struct SlotInput {
  BlockView block;
  AttributeView f;
  bool reads_f;
  TermView terms;
  Groups groups;
  const int64_t* ptr;         // [rows + 1]: the arcs of each row
  const int64_t* order;       // null: identity
  const int32_t* arc_target;  // null: rows are targets
};

// The arc of a slot; −1: none.
__device__ int64_t arc_of(const SlotInput& in, int64_t slot, int64_t row) {
  const int64_t group = slot / kGroup;
  const int64_t position = in.ptr[row] + (group - in.groups.start[row]) * kGroup + slot % kGroup;
  if (position >= in.ptr[row + 1]) return -1;
  return in.order != nullptr ? in.order[position] : position;
}

__device__ int64_t f_row(const AttributeView& f, int64_t link) {
  return f.layout == Layout::kDictionary ? f.code[link] : link;
}

template <bool kForward, int kLanes>  // per slot
__global__ void fill_slots(const SlotInput in, float sign, const float* given, float* gate) {
  const int64_t at = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const unsigned mask = ((1U << kLanes) - 1) << (threadIdx.x % 32 / kLanes * kLanes);
  if (at >= int64_t{in.groups.start[in.groups.rows]} * kGroup) return;
  const int64_t row = in.groups.groups[at / kGroup].row;
  const int64_t arc = arc_of(in, at, row);
  int64_t f = -1;
  int64_t other = -1;
  float c = 0;
  if (arc >= 0) {
    const bool by_source = in.arc_target != nullptr;
    const int64_t target = by_source ? in.arc_target[arc] : row;
    const int64_t source = in.block.source[arc];
    if (in.reads_f) f = f_row(in.f, in.block.link_row(arc));
    other = by_source ? target : (in.terms.h_row != nullptr ? in.terms.h_row[source] : source);
    float lambda = 1;
    if (kForward && in.terms.p != nullptr) {
      float z = in.terms.v == nullptr ? 0 : attribute_dot(in.f, f, in.terms.v, lane, kLanes);
      for (int step = 1; step < kLanes; step *= 2) z += __shfl_xor_sync(mask, z, step, kLanes);
      z += in.terms.p[row] + in.terms.q[source];
      lambda = 1 / (1 + expf(-z));
      if (gate != nullptr && lane == 0) gate[arc] = lambda;
    }
    if (!kForward && given != nullptr) lambda = given[arc];
    c = sign * lambda;
    if (in.block.weight != nullptr) c *= in.block.weight[arc];
    if (in.block.scale != nullptr) c *= in.block.scale[target];
  }
  if (lane != 0) return;
  in.groups.other[at] = static_cast<int32_t>(other + 1);
  in.groups.c[at] = c;
  in.groups.f[at] = f;
  in.groups.arc[at] = arc;
}

// to [rows, to_stride] = from[index], a warp per row.
__global__ void copy_rows(const float* from, const int64_t* index, int64_t rows, int64_t columns,
                          int64_t stride, float* to, int64_t to_stride) {
  const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (row >= rows) return;
  const float* source = from + (index != nullptr ? index[row] : row) * stride;
  for (int64_t j = threadIdx.x % 32; j < to_stride; j += 32) {
    to[row * to_stride + j] = j < columns ? source[j] : 0;
  }
}

AlignedRows copied_rows(const float* matrix, const int64_t* index, int64_t rows, int64_t columns,
                        int64_t stride, const Launch& launch) {
  const int64_t padded = (columns + 3) / 4 * 4;
  auto* copy = launch.scratch->array<float>(rows * padded);
  const auto blocks = std::max<int64_t>(1, (32 * rows + kThreads - 1) / kThreads);
  copy_rows<<<static_cast<unsigned>(blocks), kThreads, 0, launch.stream>>>(
      matrix, index, rows, columns, stride, copy, padded);
  check_launch("copy_rows");
  return {copy, padded};
}

SlotInput slot_input(const DeviceSum& in, const Groups& groups) {
  const GatedSum& sum = in.sum;
  return {.block = sum.block,
          .f = sum.f,
          .reads_f = sum.f.columns > 0 && sum.f.values != nullptr,
          .terms = sum.terms,
          .groups = groups,
          .ptr = sum.block.row_ptr,
          .order = nullptr,
          .arc_target = nullptr};
}

int blocks_for(const Groups& groups, int lanes) {
  return static_cast<int>(
      std::max<int64_t>(1, (groups.slot_count() * lanes + kThreads - 1) / kThreads));
}

}  // namespace

AlignedRows aligned_rows(const float* matrix, int64_t rows, int64_t columns, int64_t stride,
                         const Launch& launch) {
  if (is_aligned(matrix, stride)) return {matrix, stride};
  return copied_rows(matrix, nullptr, rows, columns, stride, launch);
}

DeviceSum with_aligned_rows(DeviceSum in, const Launch& launch) {
  if (in.h_stride == 0) in.h_stride = in.sum.d;
  TermView& terms = in.sum.terms;
  if (is_aligned(terms.h, in.h_stride)) return in;
  const AlignedRows rows =
      copied_rows(terms.h, terms.h_row, in.sum.block.sources, in.sum.d, in.h_stride, launch);
  terms.h = rows.data;
  terms.h_row = nullptr;
  in.h_stride = rows.stride;
  return in;
}

void make_slots(const DeviceSum& in, const Groups& groups, float sign, float* gate,
                const Launch& launch) {
  constexpr int kLanes = 2;
  const bool reads_f = in.sum.terms.p != nullptr && in.sum.terms.v != nullptr;
  const auto kernel = reads_f ? fill_slots<true, kLanes> : fill_slots<true, 1>;
  kernel<<<blocks_for(groups, reads_f ? kLanes : 1), kThreads, 0, launch.stream>>>(
      slot_input(in, groups), sign, nullptr, gate);
  check_launch("fill_slots");
}

void make_slots(const DeviceSum& in, const Groups& groups, const float* gate, const BySource* order,
                const Launch& launch) {
  SlotInput slots = slot_input(in, groups);
  if (order != nullptr) {
    slots.ptr = order->rows.ptr;
    slots.order = order->rows.order;
    slots.arc_target = order->arc_target;
  }
  fill_slots<false, 1>
      <<<blocks_for(groups, 1), kThreads, 0, launch.stream>>>(slots, 1, gate, nullptr);
  check_launch("fill_slots");
}

}  // namespace lase::kernels::cuda
