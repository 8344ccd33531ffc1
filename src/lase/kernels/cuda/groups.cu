#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/groups.h"

namespace lase::kernels::cuda {
namespace {

constexpr int kThreads = 256;

int blocks_for(int64_t threads) {
  return static_cast<int>(std::max<int64_t>(1, (threads + kThreads - 1) / kThreads));
}

__device__ int64_t thread_index() { return int64_t{blockIdx.x} * kThreads + threadIdx.x; }

// The last row whose start is ≤ position, given that the first one is.
template <class T>
__device__ int64_t row_at(const T* start, int64_t rows, T position) {
  int64_t first = 0;
  int64_t last = rows;
  while (last - first > 1) {
    const int64_t middle = first + (last - first) / 2;
    (start[middle] <= position ? first : last) = middle;
  }
  return first;
}

__global__ void count_groups(ArcRows rows, int32_t* count) {
  const int64_t r = thread_index();
  if (r > rows.rows) return;
  const int64_t arcs = r < rows.rows ? rows.ptr[r + 1] - rows.ptr[r] : 0;
  count[r] =
      r == rows.rows ? 0 : static_cast<int32_t>(max(int64_t{1}, (arcs + kGroup - 1) / kGroup));
}

__global__ void fill_groups(ArcRows rows, Groups out) {
  const int64_t g = thread_index();
  if (g >= out.start[rows.rows]) return;
  const int64_t row = row_at(out.start, rows.rows, static_cast<int32_t>(g));
  const int64_t index = g - out.start[row];
  Group group;
  group.row = static_cast<int32_t>(row);
  if (index % kRunGroups == 0) group.flags |= Group::kStartsRun;
  if (index % kRunGroups == kRunGroups - 1 || g + 1 == out.start[row + 1]) {
    group.flags |= Group::kEndsRun;
  }
  if (index >= kRunGroups) group.flags |= Group::kLaterRun;
  out.groups[g] = group;
}

__global__ void add_carries_kernel(Groups groups, const float* carry, int64_t width, float* out,
                                   int64_t out_stride) {
  const int64_t row = thread_index() / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (row >= groups.rows) return;
  const int64_t first = groups.start[row];
  const int64_t last = groups.start[row + 1];
  if (last - first <= kRunGroups) return;
  for (int64_t c = lane; c < width; c += 32) {
    float sum = out[row * out_stride + c];
    for (int64_t g = first + kRunGroups; g < last; g += kRunGroups) {
      sum += carry[carry_of(g) * width + c];
    }
    out[row * out_stride + c] = sum;
  }
}

__global__ void count_up(int64_t n, int64_t* out) {
  const int64_t i = thread_index();
  if (i < n) out[i] = i;
}

// ptr[v]: the position of the first arc whose source is at least v.
__global__ void find_sources(const int32_t* source, const int64_t* by_source, int64_t arcs,
                             int64_t sources, int64_t* ptr) {
  const int64_t i = thread_index();
  if (i > arcs) return;
  const int64_t from = i == 0 ? 0 : source[by_source[i - 1]] + 1;
  const int64_t to = i == arcs ? sources : source[by_source[i]];
  for (int64_t v = from; v <= to; ++v) ptr[v] = i;
}

__global__ void find_targets(const int64_t* row_ptr, int64_t targets, int64_t arcs,
                             int32_t* target) {
  const int64_t i = thread_index();
  if (i < arcs) target[i] = static_cast<int32_t>(row_at(row_ptr, targets, i));
}

}  // namespace

Groups make_groups(const ArcRows& rows, const Launch& launch) {
  Groups groups;
  groups.rows = rows.rows;
  groups.most = rows.rows + rows.arcs / kGroup;
  auto* count = launch.scratch->array<int32_t>(rows.rows + 1);
  auto* start = launch.scratch->array<int32_t>(rows.rows + 1);
  groups.start = start;
  groups.groups = launch.scratch->array<Group>(groups.most);
  groups.other = launch.scratch->array<int32_t>(groups.slot_count());
  groups.c = launch.scratch->array<float>(groups.slot_count());
  groups.f = launch.scratch->array<int64_t>(groups.slot_count());
  groups.arc = launch.scratch->array<int64_t>(groups.slot_count());
  count_groups<<<blocks_for(rows.rows + 1), kThreads, 0, launch.stream>>>(rows, count);
  check_launch("count_groups");
  size_t bytes = 0;
  const auto scan = [&](void* temporary) {
    return cub::DeviceScan::ExclusiveSum(temporary, bytes, count, start, rows.rows + 1,
                                         launch.stream);
  };
  check(scan(nullptr), "DeviceScan");
  check(scan(launch.scratch->allocate(static_cast<int64_t>(bytes))), "DeviceScan");
  fill_groups<<<blocks_for(groups.most), kThreads, 0, launch.stream>>>(rows, groups);
  check_launch("fill_groups");
  return groups;
}

void add_carries(const Groups& groups, const float* carry, int64_t width, float* out,
                 int64_t out_stride, const Launch& launch) {
  add_carries_kernel<<<blocks_for(32 * groups.rows), kThreads, 0, launch.stream>>>(
      groups, carry, width, out, out_stride);
  check_launch("add_carries");
}

BySource by_source(const BlockView& block, int64_t arcs, const Launch& launch) {
  BySource result;
  const int64_t* order = block.by_source;
  if (order == nullptr) {
    auto* position = launch.scratch->array<int64_t>(arcs);
    auto* sorted = launch.scratch->array<int64_t>(arcs);
    auto* keys = launch.scratch->array<int32_t>(arcs);
    count_up<<<blocks_for(arcs), kThreads, 0, launch.stream>>>(arcs, position);
    check_launch("count_up");
    size_t bytes = 0;
    const int bits = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(1, block.sources)));
    const auto sort = [&](void* temporary) {
      return cub::DeviceRadixSort::SortPairs(temporary, bytes, block.source, keys, position, sorted,
                                             arcs, 0, bits, launch.stream);
    };
    check(sort(nullptr), "DeviceRadixSort");
    check(sort(launch.scratch->allocate(static_cast<int64_t>(bytes))), "DeviceRadixSort");
    order = sorted;
  }
  auto* ptr = launch.scratch->array<int64_t>(block.sources + 1);
  find_sources<<<blocks_for(arcs + 1), kThreads, 0, launch.stream>>>(block.source, order, arcs,
                                                                     block.sources, ptr);
  check_launch("find_sources");
  result.rows = {.rows = block.sources, .arcs = arcs, .ptr = ptr, .order = order};
  result.arc_target = block.arc_target;
  if (result.arc_target == nullptr) {
    auto* target = launch.scratch->array<int32_t>(arcs);
    find_targets<<<blocks_for(arcs), kThreads, 0, launch.stream>>>(block.row_ptr, block.targets,
                                                                   arcs, target);
    check_launch("find_targets");
    result.arc_target = target;
  }
  return result;
}

}  // namespace lase::kernels::cuda
