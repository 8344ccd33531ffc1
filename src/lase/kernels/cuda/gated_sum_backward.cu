#include <algorithm>

#include "lase/kernels/cuda/add_parts.h"
#include "lase/kernels/cuda/attributes.cuh"
#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/link_tile.cuh"
#include "lase/kernels/cuda/tile_launch.h"

namespace lase::kernels::cuda {
namespace {

// Rows are targets, and rows of h are gathered; or rows are sources, and rows of ds are gathered,
// which also gives the gradient of h.
struct BackwardInput {
  TileInput tile;
  const float* own = nullptr;  // the matrix of the rows themselves: ds, or h
  int64_t own_stride = 0;
  bool own_in_pairs = false;  // two columns can be read at once
  const float* u = nullptr;   // null: no amplifier
  const float* shift = nullptr;
  float* dots = nullptr;    // [column blocks, slots]: ⟨ds, h ⊙ a⟩; null: not computed
  float* du = nullptr;      // [parts, d, k]
  float* dshift = nullptr;  // [parts, d]
  float* dh = nullptr;      // [rows, d]
  float* carry = nullptr;
};

// For kColumns columns, with G = ds(u):
//
//   dots_i = ⟨G, h(v_i) ⊙ a(e_i)⟩
//   D_i    = c_i G ⊙ h(v_i) ⊙ a'(e_i)
//   dU    += D_iᵀ f(e_i)               summed over the arcs of the thread block
//   dh(v)  = Σ_i c_i G ⊙ a(e_i)        over the arcs of a source
template <bool kBySource, Amplifier kAmplifier, int kTiles, Precision kPrecision>
__global__ void __launch_bounds__(kThreads, kResidentBackward<kTiles, kPrecision>)
    backward(const __grid_constant__ BackwardInput in) {
  constexpr bool kAmplified = kTiles > 0;
  constexpr int kProducts = kAmplified ? kTiles : 1;
  using Product = BackwardProduct<kTiles, kPrecision>;
  extern __shared__ __align__(16) unsigned char shared[];
  auto* floats = reinterpret_cast<float*>(shared);
  const int64_t block_column = int64_t{blockIdx.y} * kColumns;
  const int64_t d = in.tile.d;
  const auto k = static_cast<int>(in.tile.f.columns);
  const int quad = lane_id() % 4;
  const int local = own_column();
  const int64_t column = block_column + local;
  DotProducts dots(
      floats, in.dots == nullptr ? nullptr : in.dots + blockIdx.y * in.tile.groups.slot_count());
  constexpr float factor = kProductFactor<kAmplifier, kPrecision>;
  constexpr float unit = kValueUnit<kAmplifier, kPrecision>;
  constexpr float slope_unit = kSlopeUnit<kAmplifier, kPrecision>;
  const Product amplifier(kAmplified ? in.u : nullptr, in.shift, factor, block_column,
                          kAmplified ? d : 0, k, floats + DotProducts::kSharedFloats);
  constexpr int kBefore = DotProducts::kSharedFloats + Product::kSharedFloats;
  Pipeline<kTiles, kPrecision> pipeline(in.tile, block_column, shared + kBefore * sizeof(float));

  // [columns local, local + 1][attributes 2 quad, 2 quad + 1 of a tile]
  float du[kProducts][4] = {};
  float dshift[2] = {};
  RunSum dh;
  for (int t = 0; t < pipeline.tiles(); ++t) {
    pipeline.advance();
    const int64_t first = pipeline.group();
    if (t > 0 && dots.wanted()) dots.write(first - kTileGroups, first, unit);
    float own[kTileGroups][2];
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g) {
      const float* row = in.own + static_cast<uint64_t>(pipeline.group(g).row) *
                                      static_cast<uint32_t>(in.own_stride);
      if (in.own_in_pairs) {
        const auto pair = column < d ? *reinterpret_cast<const float2*>(row + column) : float2{};
        own[g][0] = pair.x;
        own[g][1] = pair.y;
      } else {
        own[g][0] = column < d ? row[column] : 0;
        own[g][1] = column + 1 < d ? row[column + 1] : 0;
      }
    }
    const float* other = pipeline.other() + local;
    float z[kTileGroups][4];
    if constexpr (kAmplified) amplifier.product(pipeline.f(), pipeline.f_stride(), z);
    Operand<2, kPrecision> terms[kTileGroups];  // D
    float dot[kTileGroups][2] = {};
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g) {
      const Group group = pipeline.group(g);
      const int m = g * kGroup + 2 * quad;
      const auto x0 = *reinterpret_cast<const float2*>(other + m * kRowStride);
      const auto x1 = *reinterpret_cast<const float2*>(other + (m + 1) * kRowStride);
      const auto c2 = *reinterpret_cast<const float2*>(pipeline.c() + m);
      const float x[4] = {x0.x, x1.x, x0.y, x1.y};  // [column][arc]
      const float c[2] = {c2.x, c2.y};
      float to_h[2] = {0, 0};
      float term[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const auto [value, slope] = amplify<kAmplifier, kPrecision>(x[i], z[g][i]);
        dot[g][i % 2] += own[g][i / 2] * value;
        if constexpr (kBySource) to_h[i / 2] += c[i % 2] * value;
        if constexpr (kAmplified) {
          term[i] = c[i % 2] * own[g][i / 2] * slope;
          dshift[i / 2] += term[i];
        }
      }
      if constexpr (kAmplified) {
#pragma unroll
        for (int i = 0; i < 2; ++i) terms[g].set(i, term[2 * i], term[2 * i + 1]);
      }
      if constexpr (kBySource) {
        dh.start(group, first + g);
        dh.add(to_h[0], to_h[1]);
        dh.finish(group, column, d, unit, in.dh, d, in.carry);
      }
    }
    if (dots.wanted()) dots.set(dot);
    if constexpr (kAmplified) {
      add_outer<kTiles>(terms, pipeline.f(), pipeline.f_stride(), k, du);
    }
  }
  if (dots.wanted() && pipeline.tiles() > 0) {
    __syncthreads();
    dots.write(pipeline.group(), pipeline.last_group(), unit);
  }
  if constexpr (kAmplified) {
    float* to = in.du + blockIdx.x * d * k;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int64_t c = column + i / 2;
        const int j = outer_attribute<kTiles, kPrecision>(n, i);
        if (c < d && j < k) to[c * k + j] = slope_unit * du[n][i];
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int step = 1; step < 4; step *= 2) {
        dshift[i] += __shfl_xor_sync(~0U, dshift[i], step);
      }
      if (quad == 0 && column + i < d)
        in.dshift[blockIdx.x * d + column + i] = slope_unit * dshift[i];
    }
  }
}

struct GateInput {
  BlockView block;
  AttributeView f;
  bool links;
  int64_t d;
  int64_t width;
  Groups groups;
  const float* dots;  // [column blocks, slots]
  int64_t column_blocks;
  const float* ds;
  const float* gate;
  bool by_source;
  const int32_t* arc_target;
};

// The gradient of the argument of each gate, dz_i = w ⟨ds, x_i / λ_i⟩ λ_i (1 − λ_i): by arc, and in
// place of the coefficients of the slots.
template <int kLanes>  // per slot
__global__ void gate_gradient(const GateInput in, float* dz) {
  const int64_t at = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  const unsigned mask = ((1U << kLanes) - 1) << (threadIdx.x % 32 / kLanes * kLanes);
  if (at >= int64_t{in.groups.start[in.groups.rows]} * kGroup) return;
  const int64_t arc = in.groups.arc[at];
  if (arc < 0) return;
  const int64_t target = in.by_source ? in.arc_target[arc] : in.groups.groups[at / kGroup].row;
  float sum = 0;
  if (in.links && in.f.columns > 0) {
    const float* g = in.ds + target * in.width + in.d + 1;
    sum = attribute_dot(in.f, in.groups.f[at], g, lane, kLanes);
    for (int step = 1; step < kLanes; step *= 2) sum += __shfl_xor_sync(mask, sum, step, kLanes);
  }
  if (lane != 0) return;
  if (in.links) sum += in.ds[target * in.width + in.d];
  for (int64_t b = 0; b < in.column_blocks; ++b) sum += in.dots[b * in.groups.slot_count() + at];
  const float gate = in.gate[arc];
  float value = sum * gate * (1 - gate);
  if (in.block.weight != nullptr) value *= in.block.weight[arc];
  if (in.block.scale != nullptr) value *= in.block.scale[target];
  dz[arc] = value;
  in.groups.c[at] = value;
}

// out[r] = Σ of x over the arcs of row r, a warp per row.
__global__ void sum_arcs(ArcRows rows, const float* x, float* out) {
  const int64_t row = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / 32;
  if (row >= rows.rows) return;
  float sum = 0;
  for (int64_t i = rows.ptr[row] + lane_id(); i < rows.ptr[row + 1]; i += 32) {
    sum += x[rows.order != nullptr ? rows.order[i] : i];
  }
  for (int step = 1; step < 32; step *= 2) sum += __shfl_xor_sync(~0U, sum, step);
  if (lane_id() == 0) out[row] = sum;
}

void add_arcs(const ArcRows& rows, const float* x, float* out, const Launch& launch) {
  if (rows.rows == 0) return;
  const int64_t blocks = (32 * rows.rows + kThreads - 1) / kThreads;
  sum_arcs<<<static_cast<unsigned>(blocks), kThreads, 0, launch.stream>>>(rows, x, out);
  check_launch("sum_arcs");
}

// Threads that share a column of the gradient of V, each with some of the arcs of a tile.
__host__ __device__ int column_threads(int64_t k) {
  return max(1, kThreads / padded_attributes(k));
}

// Σ_i c_i f(e_i) over the arcs of a thread: [thread blocks, column_threads, k].
template <int kStages>
__global__ void __launch_bounds__(kThreads)
    attribute_gradient(const __grid_constant__ TileInput in, float* parts) {
  using Pipeline = TilePipeline<kStages>;
  extern __shared__ __align__(16) unsigned char shared[];
  Pipeline pipeline(in, 0, shared);
  const int padded = padded_attributes(in.f.columns);
  const int j = static_cast<int>(threadIdx.x) % padded;
  const int first = static_cast<int>(threadIdx.x) / padded;
  const int step = column_threads(in.f.columns);
  const bool exists = j < in.f.columns && first < step;
  float sum = 0;
  for (int t = 0; t < pipeline.tiles(); ++t) {
    pipeline.advance();
    if (!exists) continue;
    const float* f = pipeline.f() + j;
    float tile = 0;
#pragma unroll 4
    for (int m = first; m < kTileSlots; m += step) {
      tile += pipeline.c()[m] * f[m * pipeline.f_stride()];
    }
    sum += tile;
  }
  if (exists) parts[(blockIdx.x * step + first) * in.f.columns + j] = sum;
}

// One backward pass over the arcs.
class Backward {
 public:
  Backward(const DeviceSum& device, const float* gate, const float* ds,
           const GatedSumGradients& out, const Launch& launch)
      : device_(with_aligned_rows(device, launch)),
        sum_(device_.sum),
        gate_(gate),
        ds_(ds),
        out_(out),
        launch_(launch) {}

  void run() {
    const bool gated = sum_.terms.p != nullptr;
    const bool amplified = sum_.amplifier != Amplifier::kNone;
    if (out_.h != nullptr || (gated && out_.q != nullptr)) {
      order_ = by_source(sum_.block, device_.arcs, launch_);
    }
    const bool for_h = out_.h != nullptr;
    const ArcRows targets{
        .rows = sum_.block.targets, .arcs = device_.arcs, .ptr = sum_.block.row_ptr};
    const Groups groups = make_groups(for_h ? order_.rows : targets, launch_);
    make_slots(device_, groups, gate_, for_h ? &order_ : nullptr, launch_);

    BackwardInput in;
    in.tile = {.groups = groups, .f = sum_.f, .reads_f = amplified, .d = sum_.d};
    const AlignedRows gathered =
        for_h ? aligned_rows(ds_, sum_.block.targets, sum_.d, sum_.width(), launch_)
              : AlignedRows{sum_.terms.h, device_.h_stride};
    in.tile.other = gathered.data;
    in.tile.other_stride = gathered.stride;
    in.own = for_h ? sum_.terms.h : ds_;
    in.own_stride = for_h ? device_.h_stride : sum_.width();
    in.own_in_pairs = sum_.d % 2 == 0 && in.own_stride % 2 == 0 &&
                      reinterpret_cast<uintptr_t>(in.own) % alignof(float2) == 0;
    columns_ = (sum_.d + kColumns - 1) / kColumns;
    if (gated) in.dots = launch_.scratch->array<float>(columns_ * groups.slot_count());
    if (for_h) {
      in.dh = out_.h;
      in.carry = launch_.scratch->array<float>(groups.carries() * sum_.d);
    }
    if (amplified) {
      in.u = sum_.terms.u;
      in.shift = sum_.terms.u_shift;
    }
    if (gated || amplified || for_h) {
      dispatch(sum_.amplifier, sum_.f.columns, device_.precision,
               [&](auto amplifier, auto tiles, auto precision) {
                 if (for_h) {
                   launch<true, amplifier, tiles, precision>(in);
                 } else {
                   launch<false, amplifier, tiles, precision>(in);
                 }
               });
    }
    if (for_h) add_carries(groups, in.carry, sum_.d, out_.h, sum_.d, launch_);
    if (gated) gate_gradients(groups, in.dots, for_h, targets);
  }

 private:
  template <bool kBySource, Amplifier kAmplifier, int kTiles, Precision kPrecision>
  void launch(BackwardInput in) {
    constexpr int kBefore =
        DotProducts::kSharedFloats + BackwardProduct<kTiles, kPrecision>::kSharedFloats;
    const int shared = kBefore * static_cast<int>(sizeof(float)) +
                       Pipeline<kTiles, kPrecision>::shared_bytes(in.tile);
    const dim3 grid(parts(in.tile.groups, columns_, (kResidentBackward<kTiles, kPrecision>)),
                    static_cast<unsigned>(columns_));
    const int64_t k = sum_.f.columns;
    if (kTiles > 0) {
      in.du = launch_.scratch->array<float>(grid.x * sum_.d * k);
      in.dshift = launch_.scratch->array<float>(grid.x * sum_.d);
    }
    launch_tiles(backward<kBySource, kAmplifier, kTiles, kPrecision>, "gated_sum_backward", grid,
                 shared, launch_, in);
    if (kTiles == 0) return;
    if (out_.u != nullptr) add_parts(in.du, grid.x, sum_.d * k, out_.u, launch_);
    if (out_.u_shift != nullptr) add_parts(in.dshift, grid.x, sum_.d, out_.u_shift, launch_);
  }

  void gate_gradients(const Groups& groups, const float* dots, bool for_h, const ArcRows& targets) {
    auto* dz = launch_.scratch->array<float>(device_.arcs);
    const int lanes = sum_.links && sum_.f.columns > 0 ? 8 : 1;
    const int64_t blocks = (groups.slot_count() * lanes + kThreads - 1) / kThreads;
    const GateInput in{.block = sum_.block,
                       .f = sum_.f,
                       .links = sum_.links,
                       .d = sum_.d,
                       .width = sum_.width(),
                       .groups = groups,
                       .dots = dots,
                       .column_blocks = columns_,
                       .ds = ds_,
                       .gate = gate_,
                       .by_source = for_h,
                       .arc_target = order_.arc_target};
    const auto kernel = lanes == 1 ? gate_gradient<1> : gate_gradient<8>;
    kernel<<<static_cast<unsigned>(std::max<int64_t>(1, blocks)), kThreads, 0, launch_.stream>>>(
        in, dz);
    check_launch("gate_gradient");
    if (out_.p != nullptr) add_arcs(targets, dz, out_.p, launch_);
    if (out_.q != nullptr) add_arcs(order_.rows, dz, out_.q, launch_);
    if (out_.v == nullptr) return;
    constexpr int kStages = 3;
    const TileInput tile{.groups = groups, .f = sum_.f, .reads_f = true};
    const unsigned blocks_of_dv = parts(groups, 1, 2);
    const int64_t count = int64_t{blocks_of_dv} * column_threads(sum_.f.columns);
    auto* dv = launch_.scratch->array<float>(count * sum_.f.columns);
    launch_tiles(attribute_gradient<kStages>, "attribute_gradient", dim3(blocks_of_dv),
                 TilePipeline<kStages>::shared_bytes(tile), launch_, tile, dv);
    add_parts(dv, count, sum_.f.columns, out_.v, launch_);
  }

  const DeviceSum device_;
  const GatedSum& sum_;
  const float* gate_;
  const float* ds_;
  const GatedSumGradients& out_;
  const Launch& launch_;
  BySource order_;
  int64_t columns_ = 0;
};

}  // namespace

void gated_sum_backward(const DeviceSum& in, const float* gate, const float* ds,
                        const GatedSumGradients& out, const Launch& launch) {
  Backward(in, gate, ds, out, launch).run();
}

}  // namespace lase::kernels::cuda
