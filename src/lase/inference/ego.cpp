#include "lase/inference/ego.h"

#include <ATen/ATen.h>
#include <array>
#include <c10/core/GradMode.h>
#include <utility>

namespace lase {

using at::Tensor;

namespace {

// Rows of a matrix: by an index, or copied where gradients are required, which rows read through an
// index do not have.
ops::Rows rows_at(const Tensor& matrix, const Tensor& index) {
  if (c10::GradMode::is_enabled()) return {matrix.index_select(0, index), {}};
  return {matrix, index};
}

Readout head_of(const Model& model) {
  return [&model](const Tensor& embedding) { return model.head(embedding, {}); };
}

}  // namespace

Ego::Ego(const Network& network, int64_t node, int64_t first_layer, Readout readout)
    : network_(network),
      inputs_(network.passes.inputs(network.passes.of(node))),
      first_(first_layer),
      readout_(std::move(readout)) {
  const std::vector<int64_t> fanouts(static_cast<size_t>(model().block_count() - first_),
                                     kWholeNeighborhood);
  const std::array seeds{node};
  batch_ = sample_batch(network.arcs, seeds, {.fanouts = fanouts}, {});
}

Ego::Ego(const Network& network, int64_t node) : Ego(network, node, head_of(network.model())) {}

Ego::Ego(const Network& network, int64_t node, Readout readout)
    : Ego(network, node, int64_t{0}, std::move(readout)) {
  states_.push_back(model().start(inputs_, batch_.nodes));
  run_layers();
}

Ego::Ego(const Network& network, int64_t node, const State& last_input)
    : Ego(network, node, network.last_layer(), head_of(network.model())) {
  State state;
  if (last_input.h.defined()) state.h = last_input.h.at(batch_.nodes);
  if (last_input.f.defined()) state.f = last_input.f.at(batch_.nodes);
  states_.push_back(std::move(state));
  run_layers();
}

void Ego::run_layers() {
  for (int64_t l = first_; l <= last_layer(); ++l) {
    states_.push_back(model().step(l, states_.back(), block(l), links(), {}));
  }
}

Block Ego::own_block(int64_t l) const {
  Block own = block(l);
  const int64_t arcs = own.row_ptr[1].item<int64_t>();
  own.target = own.target.narrow(0, 0, 1);
  own.row_ptr = own.row_ptr.narrow(0, 0, 2);
  for (Tensor* x : {&own.source, &own.link, &own.weight}) {
    if (x->defined()) *x = x->narrow(0, 0, arcs);
  }
  own.by_source = Tensor();
  own.arc_target = Tensor();
  return own;
}

Tensor Ego::neighbors(const Block& own) const { return batch_.nodes.index_select(0, own.source); }

Tensor Ego::embedding() const { return model().embedding(states_.back()).narrow(0, 0, 1); }

Tensor Ego::outputs() const { return read_out(states_.back()).select(0, 0); }

Tensor Ego::outputs_with(int64_t l, const State& own) const {
  if (l == last_layer()) return read_out(own);
  // The rows of all variants follow the rows of the state; an index selects one of them for u.
  const State& others = input(l + 1);
  const auto append = [](const ops::Rows& rows, const ops::Rows& variants) {
    return rows.defined() ? at::cat({rows.dense(), variants.dense()}) : Tensor();
  };
  const Tensor h = append(others.h, own.h);
  const Tensor f = append(others.f, own.f);
  const int64_t rows = block(l + 1).sources;
  const int64_t variants = (h.defined() ? h : f).size(0) - rows;
  std::vector<Tensor> outputs;
  for (int64_t i = 0; i < variants; ++i) {
    Tensor index = at::arange(rows, at::kLong);
    index[0] = rows + i;
    State state;
    if (h.defined()) state.h = rows_at(h, index);
    if (f.defined()) state.f = rows_at(f, index);
    for (int64_t above = l + 1; above <= last_layer(); ++above) {
      state = model().step(above, state, block(above), links(), {});
    }
    outputs.push_back(read_out(state).narrow(0, 0, 1));
  }
  return at::cat(outputs);
}

Tensor Ego::outputs_without_links(const State* own) const {
  State state = input(first_);
  if (own != nullptr) {
    const auto replace = [](const ops::Rows& rows, const ops::Rows& first) -> ops::Rows {
      if (!rows.defined()) return {};
      const Tensor all = rows.dense();
      return {at::cat({first.dense(), all.narrow(0, 1, all.size(0) - 1)}), {}};
    };
    state = {replace(state.h, own->h), replace(state.f, own->f)};
  }
  for (int64_t l = first_; l <= last_layer(); ++l) {
    Block others = block(l);
    const int64_t arcs = others.row_ptr[1].item<int64_t>();  // of u, which come first
    others.row_ptr = (others.row_ptr - arcs).clamp_min(0);
    for (Tensor* x : {&others.source, &others.link, &others.weight}) {
      if (x->defined()) *x = x->narrow(0, arcs, x->size(0) - arcs).contiguous();
    }
    others.by_source = Tensor();
    others.arc_target = Tensor();
    state = model().step(l, state, others, links(), {});
  }
  return read_out(state).select(0, 0);
}

int64_t Ego::arcs_after(int64_t l) const {
  int64_t arcs = 0;
  for (int64_t above = l + 1; above <= last_layer(); ++above) arcs += block(above).arcs();
  return arcs;
}

}  // namespace lase
