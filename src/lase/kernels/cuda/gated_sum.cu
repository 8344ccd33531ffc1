#include <algorithm>

#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/link_tile.cuh"
#include "lase/kernels/cuda/tile_launch.h"

namespace lase::kernels::cuda {
namespace {

struct ForwardInput {
  TileInput tile;
  const float* u = nullptr;  // null: no amplifier
  const float* shift = nullptr;
  float* s = nullptr;
  float* carry = nullptr;
  int64_t width = 0;         // row stride of s and carry
  bool adds = false;         // to s
  float* squares = nullptr;  // [column blocks, slots]: ‖h ⊙ a ⊙ factor‖²; null: not computed
  const float* factor = nullptr;  // [targets, d]
};

// s(u) = Σ c_i h(v_i) ⊙ a(e_i) for kColumns columns; see link_tile.cuh.
template <Amplifier kAmplifier, int kTiles, Precision kPrecision, bool kNorms>
__global__ void __launch_bounds__(kThreads, kResidentForward<kTiles, kPrecision>)
    forward(const __grid_constant__ ForwardInput in) {
  using Product = ForwardProduct<kTiles, kPrecision>;
  extern __shared__ __align__(16) unsigned char shared[];
  auto* floats = reinterpret_cast<float*>(shared);
  const int64_t block_column = int64_t{blockIdx.y} * kColumns;
  const int64_t d = in.tile.d;
  const int quad = lane_id() % 4;
  const int local = own_column();
  const int64_t column = block_column + local;
  DotProducts squares(floats, in.squares + (kNorms ? blockIdx.y * in.tile.groups.slot_count() : 0));
  constexpr float factor = kProductFactor<kAmplifier, kPrecision>;
  constexpr float unit = kValueUnit<kAmplifier, kPrecision>;
  const Product amplifier(kTiles > 0 ? in.u : nullptr, in.shift, factor, block_column,
                          kTiles > 0 ? d : 0, static_cast<int>(in.tile.f.columns),
                          floats + DotProducts::kSharedFloats);
  constexpr int kBefore = DotProducts::kSharedFloats + Product::kSharedFloats;
  Pipeline<kTiles, kPrecision> pipeline(in.tile, block_column, shared + kBefore * sizeof(float));

  RunSum s;
  for (int t = 0; t < pipeline.tiles(); ++t) {
    pipeline.advance();
    const int64_t first = pipeline.group();
    if (kNorms && t > 0) squares.write(first - kTileGroups, first, unit * unit);
    const float* h = pipeline.other() + local;
    float z[kTileGroups][4];
    if constexpr (kTiles > 0) amplifier.product(pipeline.f(), pipeline.f_stride(), z);
    float norms[kTileGroups][2];
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g) {
      const Group group = pipeline.group(g);
      const int m = g * kGroup + 2 * quad;
      const auto h0 = *reinterpret_cast<const float2*>(h + m * kRowStride);
      const auto h1 = *reinterpret_cast<const float2*>(h + (m + 1) * kRowStride);
      float x[4] = {h0.x, h1.x, h0.y, h1.y};  // [column][arc]
#pragma unroll
      for (int i = 0; i < 4 && kTiles > 0; ++i) {
        x[i] = amplify<kAmplifier, kPrecision>(x[i], z[g][i]).value;
      }
      const auto c = *reinterpret_cast<const float2*>(pipeline.c() + m);
      s.start(group, first + g);
      s.add(c.x * x[0] + c.y * x[1], c.x * x[2] + c.y * x[3]);
      s.finish(group, column, d, unit, in.s, in.width, in.carry, in.adds);
      if constexpr (kNorms) {
        if (in.factor != nullptr) {
          const float* row = in.factor + group.row * d;
          const float f0 = column < d ? row[column] : 0;
          const float f1 = column + 1 < d ? row[column + 1] : 0;
          x[0] *= f0;
          x[1] *= f0;
          x[2] *= f1;
          x[3] *= f1;
        }
        norms[g][0] = x[0] * x[0] + x[2] * x[2];
        norms[g][1] = x[1] * x[1] + x[3] * x[3];
      }
    }
    if constexpr (kNorms) squares.set(norms);
  }
  if (!kNorms || pipeline.tiles() == 0) return;
  __syncthreads();
  squares.write(pipeline.group(), pipeline.last_group(), unit * unit);
}

// Sums of the links themselves, Σ c_i [1; f(e_i)], one column per thread.
template <int kStages>
__global__ void __launch_bounds__(kThreads)
    forward_links(const __grid_constant__ ForwardInput in, int64_t first_column) {
  using Pipeline = TilePipeline<kStages>;
  extern __shared__ __align__(16) unsigned char shared[];
  Pipeline pipeline(in.tile, 0, shared);
  const int j = static_cast<int>(threadIdx.x);
  float sum = 0;
  int64_t run = 0;
  for (int t = 0; t < pipeline.tiles(); ++t) {
    pipeline.advance();
    if (j > in.tile.f.columns) continue;
    const float* f = pipeline.f() + j - 1;
    for (int g = 0; g < kTileGroups; ++g) {
      const Group group = pipeline.group(g);
      if ((group.flags & Group::kStartsRun) != 0) {
        sum = 0;
        run = pipeline.group() + g;
      }
#pragma unroll
      for (int m = g * kGroup; m < (g + 1) * kGroup; ++m) {
        sum += pipeline.c()[m] * (j == 0 ? 1.0F : f[m * pipeline.f_stride()]);
      }
      if ((group.flags & Group::kEndsRun) == 0) continue;
      const bool later = (group.flags & Group::kLaterRun) != 0;
      float* to = later ? in.carry + carry_of(run) * in.width : in.s + group.row * in.width;
      to += first_column + j;
      *to = in.adds && !later ? *to + sum : sum;
    }
  }
}

// ‖x_i‖ = λ √(Σ squares + 1 with links)
__global__ void norms(Groups groups, const float* squares, int64_t blocks, bool links,
                      const float* gate, float* norm) {
  const int64_t at = int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (at >= int64_t{groups.start[groups.rows]} * kGroup || groups.arc[at] < 0) return;
  float sum = links ? 1.0F : 0.0F;
  for (int64_t b = 0; b < blocks; ++b) sum += squares[b * groups.slot_count() + at];
  const int64_t arc = groups.arc[at];
  norm[arc] = (gate != nullptr ? gate[arc] : 1) * sqrtf(sum);
}

template <Amplifier kAmplifier, int kTiles, Precision kPrecision>
void launch_forward(const ForwardInput& in, const Launch& launch) {
  constexpr int kBefore =
      DotProducts::kSharedFloats + ForwardProduct<kTiles, kPrecision>::kSharedFloats;
  const int shared = kBefore * static_cast<int>(sizeof(float)) +
                     Pipeline<kTiles, kPrecision>::shared_bytes(in.tile);
  const auto columns = static_cast<unsigned>((in.tile.d + kColumns - 1) / kColumns);
  const dim3 grid(parts(in.tile.groups, columns, (kResidentForward<kTiles, kPrecision>)), columns);
  const auto kernel = in.squares != nullptr ? forward<kAmplifier, kTiles, kPrecision, true>
                                            : forward<kAmplifier, kTiles, kPrecision, false>;
  launch_tiles(kernel, "gated_sum", grid, shared, launch, in);
}

// Adds the terms times `sign` to out.s if `adds`, or writes them.
void add_terms(const DeviceSum& given, const GatedSumOutput& out, float sign, bool adds,
               const Launch& launch) {
  const DeviceSum device = with_aligned_rows(given, launch);
  const GatedSum& sum = device.sum;
  const Groups groups = make_groups(
      {.rows = sum.block.targets, .arcs = device.arcs, .ptr = sum.block.row_ptr}, launch);
  float* gate = out.gate;
  if (gate == nullptr && out.norm != nullptr && sum.terms.p != nullptr) {
    gate = launch.scratch->array<float>(device.arcs);
  }
  make_slots(device, groups, sign, gate, launch);

  ForwardInput in;
  in.tile = {.groups = groups,
             .f = sum.f,
             .reads_f = sum.amplifier != Amplifier::kNone,
             .other = sum.terms.h,
             .other_stride = device.h_stride,
             .d = sum.d};
  if (sum.amplifier != Amplifier::kNone) {
    in.u = sum.terms.u;
    in.shift = sum.terms.u_shift;
  }
  in.s = out.s;
  in.width = sum.width();
  in.adds = adds;
  in.carry = launch.scratch->array<float>(groups.carries() * in.width);
  const int64_t columns = (sum.d + kColumns - 1) / kColumns;
  if (out.norm != nullptr) {
    in.squares = launch.scratch->array<float>(columns * groups.slot_count());
    in.factor = out.factor;
  }
  dispatch(sum.amplifier, sum.f.columns, device.precision,
           [&](auto amplifier, auto tiles, auto precision) {
             launch_forward<amplifier, tiles, precision>(in, launch);
           });
  if (sum.links) {
    ForwardInput links = in;
    links.tile.other = nullptr;
    links.tile.reads_f = sum.f.columns > 0;
    constexpr int kStages = 3;
    launch_tiles(forward_links<kStages>, "gated_sum of links", dim3(parts(groups, 1, 1)),
                 TilePipeline<kStages>::shared_bytes(links.tile), launch, links, sum.d);
  }
  add_carries(groups, in.carry, in.width, out.s, in.width, launch);
  if (out.norm != nullptr) {
    const int64_t blocks = (groups.slot_count() + kThreads - 1) / kThreads;
    norms<<<static_cast<unsigned>(blocks), kThreads, 0, launch.stream>>>(
        groups, in.squares, columns, sum.links, gate, out.norm);
    check_launch("norms");
  }
}

}  // namespace

bool supports_current_device() {
  cudaFuncAttributes attributes{};
  const bool found = cudaFuncGetAttributes(&attributes, norms) == cudaSuccess;
  if (!found) static_cast<void>(cudaGetLastError());  // so that later checks do not see it
  return found;
}

bool fits(const GatedSum& in) {
  const bool reads_f = in.terms.u != nullptr || in.terms.v != nullptr || in.links;
  const bool is_empty = in.block.targets == 0 || in.block.sources == 0 || in.d == 0;
  return !is_empty && in.terms.v_h == nullptr && (!reads_f || in.f.columns <= kMostAttributes);
}

void gated_sum(const DeviceSum& in, const GatedSumOutput& out, const Launch& launch) {
  if (in.sum.block.targets == 0) return;
  add_terms(in, out, 1, false, launch);
  if (in.sum.baseline == nullptr) return;
  DeviceSum baseline = in;
  baseline.sum.terms = *in.sum.baseline;
  baseline.h_stride = in.baseline_stride;
  add_terms(baseline, {.s = out.s}, -1, true, launch);
}

}  // namespace lase::kernels::cuda
