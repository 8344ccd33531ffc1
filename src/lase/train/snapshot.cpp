#include "lase/train/snapshot.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>

#include "lase/base/error.h"
#include "lase/ops/workspace.h"
#include "lase/sampler/sampler.h"

namespace lase {

using at::Tensor;

RowCache::Lookup RowCache::find(std::span<const int64_t> nodes) {
  const int64_t previous = numbers_.size();
  require(previous == rows_, "missing rows were not appended to the snapshot cache");
  Lookup lookup;
  lookup.row = at::empty({std::ssize(nodes)}, at::kLong);
  auto* row = lookup.row.data_ptr<int64_t>();
  for (const int64_t node : nodes) *row++ = numbers_.number(node);
  const auto& all = numbers_.nodes();
  lookup.missing.assign(all.begin() + previous, all.end());
  return lookup;
}

void RowCache::append(const std::vector<Tensor>& rows) {
  matrices_.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].defined()) continue;
    Tensor& all = matrices_[i];
    const int64_t needed = rows_ + rows[i].size(0);
    if (!all.defined() || all.size(0) < needed) {
      // Tensors that share the old storage stay valid.
      const Tensor larger =
          at::empty({std::max(needed, 2 * rows_), rows[i].size(1)}, rows[i].options());
      if (rows_ > 0) larger.narrow(0, 0, rows_).copy_(all.narrow(0, 0, rows_));
      all = larger;
    }
    all.narrow(0, rows_, rows[i].size(0)).copy_(rows[i]);
  }
  rows_ = numbers_.size();
}

void RowCache::clear() { *this = RowCache(); }

Snapshot::Snapshot(const Model& model, const Inputs& inputs, const Adjacency& graph, When when)
    : inputs_(inputs), graph_(graph), when_(when), model_(model.options(), model.shape(), 0) {
  model_.parameters().to(inputs.device());
  const auto layers = static_cast<size_t>(model.block_count());
  states_.resize(layers);
  sums_.resize(layers);
}

namespace {

void replace(Tensor& values, const Tensor& by) {
  if (values.defined() && values.data_ptr() != by.data_ptr()) values.copy_(by);
}

void replace(ops::Rows& rows, const ops::Rows& by) {
  replace(rows.matrix, by.matrix);
  rows.index = by.index;
}

}  // namespace

void Snapshot::refresh(const Parameters& parameters, const Hidden& hidden, const LayerNodes* read) {
  c10::NoGradGuard no_grad;
  hidden_ = hidden.some_arcs();
  inputs_ = inputs_.hiding(hidden.labels);
  model_.parameters().set(parameters.copy());
  for (auto& rows : states_) rows.clear();
  for (auto& rows : sums_) rows.clear();
  if (when_ == When::kLazy) return;
  const Adjacency visible = hidden_ == nullptr ? graph_ : visible_arcs(graph_, *hidden_);
  auto passes = exact_pass(model_, inputs_, visible, std::nullopt, read);
  if (all_.empty()) {
    for (auto& layer : passes) all_.push_back(std::move(layer.baseline));
    return;
  }
  // A recorded step reads the same tensors after every refresh.
  for (size_t l = 0; l < passes.size(); ++l) {
    const BaselineLayer& found = passes[l].baseline;
    replace(all_[l].state.h, found.state.h);
    replace(all_[l].state.f, found.state.f);
    for (size_t i = 0; i < found.sums.size(); ++i) replace(all_[l].sums[i], found.sums[i]);
  }
}

namespace {

// A block of the nodes without arcs.
Block without_arcs(const Adjacency& graph, std::span<const int64_t> nodes,
                   const HiddenArcs* hidden) {
  const auto n = std::ssize(nodes);
  Block block;
  block.sources = n;
  block.target = at::arange(n, at::kLong);
  block.row_ptr = at::zeros({n + 1}, at::kLong);
  block.source = at::empty({0}, at::kInt);
  block.link = at::empty({0}, at::kInt);
  block.degree = degrees_of(graph, nodes, hidden);
  return block;
}

std::span<const int64_t> numbers(const Tensor& nodes) {
  return {nodes.data_ptr<int64_t>(), static_cast<size_t>(nodes.numel())};
}

}  // namespace

Tensor Snapshot::on_device(const Tensor& x) const { return ops::move(x, inputs_.device()); }

// Reads features in place, or computes the state once per distinct node.
State Snapshot::start(std::span<const int64_t> nodes) const {
  if (inputs_.in_place() && model_.starts_from_features()) {
    return model_.start(inputs_, on_device(index_of(nodes)));
  }
  NodeIndex distinct;
  const Tensor row = at::empty({std::ssize(nodes)}, at::kLong);
  auto* to = row.data_ptr<int64_t>();
  for (const int64_t node : nodes) *to++ = distinct.number(node);
  const State state = model_.start(inputs_, on_device(index_of(distinct.nodes())));
  const Tensor index = on_device(row);
  const auto rows = [&](const ops::Rows& all) { return all.defined() ? all.at(index) : all; };
  return {rows(state.h), rows(state.f)};
}

State Snapshot::state(int64_t l, std::span<const int64_t> nodes) {
  if (l == 0) return start(nodes);
  RowCache& cache = states_[static_cast<size_t>(l)];
  const auto [row, missing] = cache.find(nodes);
  if (!missing.empty()) {
    const Layer& layer = model_.layer(l - 1);
    const std::vector<Tensor> s = sums(l - 1, missing);
    const State own = state(l - 1, missing);
    const Block block = without_arcs(graph_, missing, hidden_).to(inputs_.device());
    const LayerInput in{own, block, inputs_.links(), {}};
    const State next = model_.finish(l - 1, layer.update(in, layer.sums(in), s));
    const auto dense = [](const ops::Rows& rows) {
      return rows.defined() ? rows.dense() : Tensor();
    };
    cache.append({dense(next.h), dense(next.f)});
  }
  const auto rows = [&cache, index = on_device(row)](size_t i) -> ops::Rows {
    if (!cache.matrix(i).defined()) return {};
    return {cache.matrix(i), index};
  };
  return {rows(0), rows(1)};
}

std::vector<Tensor> Snapshot::sums(int64_t l, std::span<const int64_t> nodes) {
  RowCache& cache = sums_[static_cast<size_t>(l)];
  const auto [row, missing] = cache.find(nodes);
  if (!missing.empty()) {
    const WholeRows rows = whole_rows(graph_, missing, hidden_);
    const State of_sources = state(l, numbers(rows.sources));
    std::vector<Tensor> s;
    const Block block = rows.block.to(inputs_.device());
    for (const auto& part : model_.layer(l).sums({of_sources, block, inputs_.links(), {}})) {
      s.push_back(ops::gated_sum(part, block));
    }
    cache.append(s);
  }
  std::vector<Tensor> found;
  const Tensor index = on_device(row);
  for (size_t i = 0; i < cache.size(); ++i) found.push_back(ops::gather(cache.matrix(i), index));
  return found;
}

Baseline Snapshot::of(const Batch& batch) {
  c10::NoGradGuard no_grad;
  Baseline baseline{&model_, {}};
  // A lazy snapshot finds nodes in tables on the CPU.
  const Tensor nodes = when_ == When::kLazy ? batch.nodes.cpu() : on_device(batch.nodes);
  for (size_t l = 0; l < batch.blocks.size(); ++l) {
    const Tensor sources = nodes.narrow(0, 0, batch.blocks[l].sources);
    const Tensor targets = nodes.narrow(0, 0, batch.blocks[l].targets());
    BaselineLayer layer;
    if (when_ == When::kLazy) {
      layer.sums = sums(static_cast<int64_t>(l), numbers(targets));
      layer.state = state(static_cast<int64_t>(l), numbers(sources));
    } else {
      const Tensor rows_of_sources = on_device(sources);
      const auto rows = [&](const ops::Rows& all) {
        return all.defined() ? all.at(rows_of_sources) : all;
      };
      // Features in memory of the CPU are copied once per batch, instead of read once per arc.
      const bool copies = l == 0 && inputs_.dense() && !inputs_.in_place();
      layer.state = copies && model_.starts_from_features()
                        ? model_.start(inputs_, rows_of_sources)
                        : State{rows(all_[l].state.h), rows(all_[l].state.f)};
      for (const auto& s : all_[l].sums) {
        layer.sums.push_back(ops::gather(s, rows_of_sources.narrow(0, 0, targets.size(0))));
      }
    }
    baseline.layers.push_back(std::move(layer));
  }
  return baseline;
}

}  // namespace lase
