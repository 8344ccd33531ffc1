#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/kernels/cpu/chosen.h"
#include "lase/kernels/kernels.h"

namespace lase::kernels {
namespace {

Shape shape_of(const GatedSum& in) {
  return {.d = in.d,
          .d_padded = round_up(in.d, isa().lanes),
          .k = in.f.columns,
          .k_padded = round_up(in.f.columns, kAttributeTile),
          .width = in.width(),
          .width_padded = round_up(in.width(), isa().lanes)};
}

// Sparse rows are read in place.
int64_t scratch_of(const GatedSum& in, const Shape& shape) {
  return in.f.layout == Layout::kSparse ? 0 : shape.scratch();
}

// Calls visit(j, c, position) for each element of a packed matrix [k, d].
template <class Visit>
void for_each_packed(const Shape& shape, const Visit& visit) {
  for (int64_t start = 0; start < shape.d; start += isa().column_tile) {
    const int64_t width = std::min(isa().column_tile, shape.d_padded - start);
    for (int64_t c = start; c < std::min(shape.d, start + width); ++c) {
      for (int64_t j = 0; j < shape.k; ++j) {
        visit(j, c, start * shape.k_padded + j * width + c - start);
      }
    }
  }
}

// A PackedTerm and the arrays that it points to.
class Packed {
 public:
  Packed(const GatedSum& in, const Shape& shape, const TermView& view) {
    term_.view = view;
    if (view.p != nullptr && view.v != nullptr) {
      v_ = Floats(shape.k_padded);
      std::copy(view.v, view.v + shape.k, v_.get());
      term_.v = v_.get();
    }
    if (in.amplifier == Amplifier::kNone) return;
    constexpr float kMinusLog2E = -1.4426950408889634F;
    const float factor = in.amplifier == Amplifier::kSigmoid ? kMinusLog2E : 1;
    u_ = Floats(shape.k_padded * shape.d_padded);
    for_each_packed(shape, [&](int64_t j, int64_t c, int64_t at) {
      u_.get()[at] = factor * view.u[c * shape.k + j];
    });
    shift_ = Floats(shape.d_padded);
    for (int64_t c = 0; c < shape.d && view.u_shift != nullptr; ++c) {
      shift_.get()[c] = factor * view.u_shift[c];
    }
    term_.u = u_.get();
    term_.shift = shift_.get();
    if (!tabulated(in)) return;
    table_ = Floats(in.f.codes * shape.d_padded);
    const Floats scratch(shape.scratch());
    isa().tabulate(in.f, shape, term_, in.amplifier, scratch.get(), table_.get());
    term_.table = table_.get();
    term_.u = nullptr;
  }

  const PackedTerm& term() const { return term_; }

 private:
  // Tabulation pays off for few distinct rows; otherwise rows are read as if dense.
  static bool tabulated(const GatedSum& in) {
    constexpr int64_t kMostCodes = 1024;
    return in.f.layout == Layout::kDictionary && in.f.codes <= kMostCodes &&
           4 * in.f.codes <= in.block.arcs();
  }

  PackedTerm term_;
  Floats u_, shift_, v_, table_;
};

// Splits arcs into chunks whose size depends only on the total, not on the number of threads.
struct Chunks {
  int64_t arcs = 0;
  int64_t size = 0;
  int64_t count = 0;

  Chunks(int64_t total, int64_t smallest, int64_t most) : arcs(total) {
    size = round_up(std::max(smallest, (total + most - 1) / most), kArcTile);
    count = (total + size - 1) / size;
  }
  int64_t first(int64_t chunk) const { return chunk * size; }
  int64_t last(int64_t chunk) const { return std::min(arcs, (chunk + 1) * size); }
};

int64_t row_of(const BlockView& block, int64_t arc) {
  const auto* end = block.row_ptr + block.targets + 1;
  return std::upper_bound(block.row_ptr, end, arc) - block.row_ptr - 1;
}

// The first arc of the run that contains `arc`; for arc = arcs(), arcs() itself.
int64_t start_of_run(const BlockView& block, int64_t arc) {
  if (arc == block.arcs()) return arc;
  const int64_t begin = block.row_ptr[row_of(block, arc)];
  return begin + (arc - begin) / kRun * kRun;
}

// The arcs sorted by source: taken from the block, or computed here.
class BySource {
 public:
  explicit BySource(const BlockView& block) : order_(block.by_source), target_(block.arc_target) {
    if (order_ != nullptr && target_ != nullptr) return;
    const auto arcs = static_cast<size_t>(block.arcs());
    own_order_ = std::make_unique_for_overwrite<int64_t[]>(arcs);
    own_target_ = std::make_unique_for_overwrite<int32_t[]>(arcs);
    order_by_source(block, own_order_.get(), own_target_.get());
    order_ = own_order_.get();
    target_ = own_target_.get();
  }
  const int64_t* order() const { return order_; }
  const int32_t* target() const { return target_; }

 private:
  const int64_t* order_;
  const int32_t* target_;
  std::unique_ptr<int64_t[]> own_order_;
  std::unique_ptr<int32_t[]> own_target_;
};

}  // namespace

void order_by_source(const BlockView& block, int64_t* by_source, int32_t* arc_target) {
  std::vector<int64_t> at(static_cast<size_t>(block.sources) + 1);
  for (int64_t arc = 0; arc < block.arcs(); ++arc) ++at[static_cast<size_t>(block.source[arc]) + 1];
  for (size_t v = 1; v < at.size(); ++v) at[v] += at[v - 1];
  for (int64_t u = 0; u < block.targets; ++u) {
    for (int64_t arc = block.row_ptr[u]; arc < block.row_ptr[u + 1]; ++arc) {
      by_source[at[static_cast<size_t>(block.source[arc])]++] = arc;
      arc_target[arc] = static_cast<int32_t>(u);
    }
  }
}

void gated_sum(const GatedSum& in, const GatedSumOutput& out) {
  const Shape shape = shape_of(in);
  const Packed terms(in, shape, in.terms);
  std::optional<Packed> baseline;
  if (in.baseline != nullptr) baseline.emplace(in, shape, *in.baseline);
  const BlockView& block = in.block;
  const Chunks chunks(block.arcs(), 1024, 1024);
  // Uninitialized: the sum of a run starts from zero.
  const auto carries = std::make_unique_for_overwrite<float[]>(
      static_cast<size_t>((block.arcs() / kRun + 1) * shape.width_padded));
  parallel_for(chunks.count, 1, [&](int64_t chunk, int64_t) {
    const int64_t first = start_of_run(block, chunks.first(chunk));
    const Floats scratch(scratch_of(in, shape));
    isa().forward({.in = &in,
                   .out = &out,
                   .shape = shape,
                   .terms = {terms.term(), baseline ? baseline->term() : PackedTerm{}},
                   .term_count = baseline ? 2 : 1,
                   .first = first,
                   .last = start_of_run(block, chunks.last(chunk)),
                   .first_row = row_of(block, first),
                   .carries = carries.get(),
                   .scratch = scratch.get()});
  });
  constexpr int64_t kRows = 256;
  parallel_for(block.targets, kRows, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      float* s = out.s + u * shape.width;
      if (block.row_ptr[u] == block.row_ptr[u + 1]) std::fill(s, s + shape.width, 0.0F);
      for (int64_t arc = block.row_ptr[u] + kRun; arc < block.row_ptr[u + 1]; arc += kRun) {
        add(carries.get() + arc / kRun * shape.width_padded, shape.width, s);
      }
    }
  });
}

void gated_sum_backward(const GatedSum& in, const float* gate, const float* ds,
                        const GatedSumGradients& out) {
  const Shape shape = shape_of(in);
  const Packed packed(in, shape, in.terms);
  const PackedTerm& term = packed.term();
  const BlockView& block = in.block;
  const int64_t arcs = block.arcs();
  const bool gated = in.terms.p != nullptr;
  const bool amplified = in.amplifier != Amplifier::kNone;
  const bool by_code = term.table != nullptr;
  const int64_t du_size = !amplified ? 0 : (by_code ? in.f.codes : shape.k_padded) * shape.d_padded;
  // One copy of dU per chunk, so fewer chunks if dU is large.
  constexpr int64_t kMostFloats = int64_t{1} << 26;
  const int64_t most = std::clamp<int64_t>(kMostFloats / std::max<int64_t>(du_size, 1), 2, 32);
  const Chunks chunks(arcs, 1024, most);
  const int64_t shift_size = amplified ? shape.d_padded : 0;
  const int64_t dv_size = term.v != nullptr ? shape.k_padded : 0;
  const Floats du(chunks.count * du_size);
  const Floats du_shift(chunks.count * shift_size);
  const Floats dv(chunks.count * dv_size);
  const int64_t dv_h_size = in.terms.v_h != nullptr ? shape.d_padded : 0;
  const Floats dv_h(chunks.count * dv_h_size);
  const Floats dgate(gated ? arcs : 0);
  const Floats carry(out.h != nullptr ? chunks.count * shape.d_padded : 0);
  std::optional<BySource> by_source;
  if (out.h != nullptr) {
    by_source.emplace(block);
    std::fill(out.h, out.h + block.sources * in.d, 0.0F);
  }
  const auto source_at = [&](int64_t i) { return int64_t{block.source[by_source->order()[i]]}; };
  // The source whose arcs continue from the previous chunk; −1: none.
  const auto carried = [&](int64_t first) -> int64_t {
    if (!by_source || first == 0 || source_at(first - 1) != source_at(first)) return -1;
    return source_at(first);
  };
  parallel_for(chunks.count, 1, [&](int64_t chunk, int64_t) {
    const int64_t first = chunks.first(chunk);
    const Floats scratch(scratch_of(in, shape));
    isa().backward({.in = &in,
                    .shape = shape,
                    .term = term,
                    .gate = gated ? gate : nullptr,
                    .ds = ds,
                    .first = first,
                    .last = chunks.last(chunk),
                    .first_row = row_of(block, first),
                    .order = by_source ? by_source->order() : nullptr,
                    .row = by_source ? by_source->target() : nullptr,
                    .dh = out.h,
                    .carry = carry.get() + chunk * shape.d_padded,
                    .carry_source = carried(first),
                    .du = du.get() + chunk * du_size,
                    .du_shift = du_shift.get() + chunk * shift_size,
                    .dgate = dgate.get(),
                    .dv = dv_size > 0 ? dv.get() + chunk * dv_size : nullptr,
                    .dv_h = dv_h_size > 0 ? dv_h.get() + chunk * dv_h_size : nullptr,
                    .scratch = scratch.get()});
  });
  for (int64_t chunk = 1; chunk < chunks.count; ++chunk) {
    const int64_t source = carried(chunks.first(chunk));
    if (source >= 0) add(carry.get() + chunk * shape.d_padded, in.d, out.h + source * in.d);
    // The sums of all chunks are accumulated in chunk 0.
    add(du.get() + chunk * du_size, du_size, du.get());
    add(du_shift.get() + chunk * shift_size, shift_size, du_shift.get());
    add(dv.get() + chunk * dv_size, dv_size, dv.get());
    add(dv_h.get() + chunk * dv_h_size, dv_h_size, dv_h.get());
  }
  if (out.u != nullptr) {
    Floats total;
    if (by_code) {
      total = Floats(shape.k_padded * shape.d_padded);
      const Floats scratch(shape.scratch());
      isa().gather_codes(in.f, shape, du.get(), scratch.get(), total.get());
    }
    const float* from = by_code ? total.get() : du.get();
    for_each_packed(shape, [&](int64_t j, int64_t c, int64_t at) {
      out.u[c * shape.k + j] = from == nullptr ? 0 : from[at];
    });
  }
  const auto copy_out = [](float* to, const Floats& from, int64_t n) {
    for (int64_t i = 0; i < n && to != nullptr; ++i)
      to[i] = from.get() == nullptr ? 0 : from.get()[i];
  };
  copy_out(out.u_shift, du_shift, in.d);
  copy_out(out.v, dv, shape.k);
  copy_out(out.v_h, dv_h, in.d);
  if (out.p != nullptr) {
    for (int64_t u = 0; u < block.targets; ++u) {
      float sum = 0;
      for (int64_t arc = block.row_ptr[u]; arc < block.row_ptr[u + 1]; ++arc) {
        sum += dgate.get()[arc];
      }
      out.p[u] = sum;
    }
  }
  if (out.q != nullptr) {
    std::fill(out.q, out.q + block.sources, 0.0F);
    for (int64_t arc = 0; arc < arcs; ++arc) out.q[block.source[arc]] += dgate.get()[arc];
  }
}

}  // namespace lase::kernels
