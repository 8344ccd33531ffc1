#include "lase/inference/divided_pass.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>

#include "lase/base/denormals.h"
#include "lase/base/error.h"
#include "lase/base/memory.h"
#include "lase/base/process_group.h"
#include "lase/ops/fetched_rows.h"
#include "lase/sampler/node_index.h"

namespace lase {

using at::Tensor;

namespace {

// Ranges of rows with about `arcs` arcs, and at least one row.
std::vector<int64_t> bounds_of(const Adjacency& graph, int64_t arcs) {
  std::vector<int64_t> bounds = {0};
  while (bounds.back() < graph.node_count()) {
    const int64_t first = bounds.back();
    const auto* begin = graph.row_ptr.data();
    const auto* end = std::upper_bound(begin + first + 1, begin + graph.row_ptr.size(),
                                       graph.row_ptr[first] + arcs);
    bounds.push_back(std::max(first + 1, static_cast<int64_t>(end - begin) - 1));
  }
  return bounds;
}

ops::Rows fetched(const ops::FetchedRows& rows, const ops::Rows& own) {
  return own.defined() ? ops::Rows{rows.from(own.dense()), {}} : ops::Rows();
}

// Puts rows into the matrix of `all` rows, which the first call allocates.
void put_rows(Tensor& matrix, const Tensor& rows, int64_t first, int64_t all) {
  if (!rows.defined()) return;
  if (!matrix.defined()) matrix = at::empty({all, rows.size(1)}, rows.options());
  matrix.narrow(0, first, rows.size(0)).copy_(rows);
}

void put_rows(ops::Rows& matrix, const ops::Rows& rows, int64_t first, int64_t all) {
  if (rows.defined()) put_rows(matrix.matrix, rows.dense(), first, all);
}

}  // namespace

DividedPass::DividedPass(const Model& model, const Inputs& inputs, const DividedGraph& graph,
                         const Adjacency& arcs, const FetchLimits& limits)
    : model_(model),
      inputs_(inputs),
      graph_(graph),
      arcs_(arcs),
      group_(processes_or_alone()),
      bytes_(limits.bytes),
      degree_(degrees(arcs)) {
  find_halo(limits.few);
}

void DividedPass::find_halo(int64_t most) {
  std::vector<bool> seen(static_cast<size_t>(graph_.node_count()));
  std::vector<int64_t> nodes;
  const auto is_own = [&](int64_t node) { return graph_.place(node).process == group_.rank(); };
  for (const int32_t node : arcs_.neighbor) {
    if (seen[static_cast<size_t>(node)]) continue;
    seen[static_cast<size_t>(node)] = true;
    if (!is_own(node)) nodes.push_back(node);
  }
  const bool few = std::ssize(nodes) <= std::max(most, arcs_.node_count());
  const std::vector<int64_t> all = gather(group_, int64_t{few});
  if (std::find(all.begin(), all.end(), 0) != all.end()) return;
  std::sort(nodes.begin(), nodes.end());
  Halo halo{ops::FetchedRows(group_, graph_.places(nodes)), {}, {}};
  halo.source.reserve(static_cast<size_t>(arcs_.arc_count()));
  for (const int32_t node : arcs_.neighbor) {
    const auto number = std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin();
    halo.source.push_back(
        static_cast<int32_t>(is_own(node) ? graph_.place(node).row : arcs_.node_count() + number));
  }
  halo.degree = at::cat({degree_, halo.rows.from(degree_)});
  halo_ = std::move(halo);
}

std::vector<int64_t> DividedPass::ranges(const State& own) const {
  constexpr int64_t kMostArcs = 1 << 22;
  const int64_t width =
      (own.h.defined() ? own.h.width() : 0) + (own.f.defined() ? own.f.width() : 0);
  const int64_t rows = bytes_ / (static_cast<int64_t>(sizeof(float)) * std::max<int64_t>(1, width));
  std::vector<int64_t> bounds = bounds_of(arcs_, rows >= graph_.node_count() ? kMostArcs : rows);
  const std::vector<int64_t> all = gather(group_, std::ssize(bounds));
  bounds.resize(static_cast<size_t>(*std::max_element(all.begin(), all.end())), bounds.back());
  return bounds;
}

template <class Visit>
void DividedPass::for_rows_with_halo(int64_t l, const State& own, const Visit& visit) const {
  const auto with_halo = [&](const ops::Rows& rows) {
    if (!rows.defined()) return ops::Rows();
    const Tensor of_own = rows.dense();
    require_memory(static_cast<double>(halo_->degree.size(0) * rows.width()) * sizeof(float),
                   "the states of the nodes of this process and their neighbors",
                   "partition the graph into more parts");
    return ops::Rows{at::cat({of_own, halo_->rows.from(of_own)}), {}};
  };
  State state;
  const bool features = l == 0 && model_.starts_from_features();
  if (features && first_layer_.h.defined()) {
    state = first_layer_;
  } else {
    state = {with_halo(own.h), with_halo(own.f)};
    if (features) first_layer_ = state;
  }
  constexpr int64_t kArcs = 1 << 22;
  const std::vector<int64_t> bounds = bounds_of(arcs_, kArcs);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    const int64_t begin = arcs_.row_ptr[bounds[i]];
    Block block = whole_block(arcs_, halo_->degree, bounds[i], bounds[i + 1]);
    block.sources = halo_->degree.size(0);
    block.source =
        at::from_blob(const_cast<int32_t*>(halo_->source.data() + begin), {block.arcs()}, at::kInt);
    visit(bounds[i], LayerInput{state, block, inputs_.links(), {}});
  }
}

template <class Visit>
void DividedPass::for_rows(int64_t l, const State& own, const Visit& visit) const {
  if (halo_) {
    for_rows_with_halo(l, own, visit);
    return;
  }
  const std::vector<int64_t> bounds = ranges(own);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    const int64_t first = bounds[i];
    const int64_t last = bounds[i + 1];
    NodeIndex index;
    for (int64_t row = first; row < last; ++row) index.number(graph_.own_nodes()[row]);
    const int64_t begin = arcs_.row_ptr[first];
    const int64_t arcs = arcs_.row_ptr[last] - begin;
    Block block = whole_block(arcs_, degree_, first, last);
    block.source = at::empty({arcs}, at::kInt);
    auto* source = block.source.data_ptr<int32_t>();
    for (int64_t j = 0; j < arcs; ++j) source[j] = index.number(arcs_.neighbor[begin + j]);
    const ops::FetchedRows rows(group_, graph_.places(index.nodes()));
    const State state{fetched(rows, own.h), fetched(rows, own.f)};
    block.sources = index.size();
    block.target = at::arange(last - first, at::kLong);
    block.leading = true;
    block.degree = rows.from(degree_);
    if (first < last) visit(first, LayerInput{state, block, inputs_.links(), {}});
  }
}

Outputs DividedPass::infer(Keep keep) const {
  c10::NoGradGuard no_grad;
  const FlushDenormals flush;
  const int64_t all = arcs_.node_count();
  Outputs outputs;
  const auto put_outputs = [&](const State& state, int64_t first) {
    const Tensor embedding = model_.embedding(state);
    if (keep != Keep::kLogits) put_rows(outputs.embedding, embedding, first, all);
    if (keep != Keep::kEmbedding) put_rows(outputs.logits, model_.head(embedding, {}), first, all);
  };
  State state = model_.start(inputs_, Tensor());
  const int64_t layers = model_.block_count();
  if (layers == 0) put_outputs(state, 0);
  for (int64_t l = 0; l < layers; ++l) {
    State next;
    for_rows(l, state, [&](int64_t first, const LayerInput& in) {
      const State rows = model_.finish(l, model_.layer(l).forward(in));
      if (l + 1 == layers) {
        put_outputs(rows, first);
        return;
      }
      put_rows(next.h, rows.h, first, all);
      put_rows(next.f, rows.f, first, all);
    });
    state = std::move(next);
  }
  return outputs;
}

std::vector<LayerPass> DividedPass::exact_pass(std::optional<ops::Score> score) const {
  c10::NoGradGuard no_grad;
  const FlushDenormals flush;
  const int64_t all = arcs_.node_count();
  std::vector<LayerPass> layers;
  State state = model_.start(inputs_, Tensor());
  for (int64_t l = 0; l < model_.block_count(); ++l) {
    LayerPass pass;
    State next;
    std::vector<Tensor> scores;
    for_rows(l, state, [&](int64_t first, const LayerInput& in) {
      const LayerSums sums = layer_sums(model_, l, in, score);
      pass.baseline.sums.resize(sums.values.size());
      for (size_t i = 0; i < sums.values.size(); ++i) {
        put_rows(pass.baseline.sums[i], sums.values[i], first, all);
      }
      if (sums.scores.defined()) scores.push_back(sums.scores);
      if (l + 1 == model_.block_count()) return;
      const State rows = model_.finish(l, model_.layer(l).update(in, sums.inputs, sums.values));
      put_rows(next.h, rows.h, first, all);
      put_rows(next.f, rows.f, first, all);
    });
    if (!scores.empty()) pass.score = at::cat(scores);
    pass.baseline.state = std::exchange(state, std::move(next));
    layers.push_back(std::move(pass));
  }
  return layers;
}

}  // namespace lase
