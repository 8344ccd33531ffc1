#include "lase/inference/seeds.h"

#include <ATen/ATen.h>
#include <numeric>

#include "lase/ops/device.h"
#include "lase/sampler/node_index.h"

namespace lase {

using at::Tensor;

const Seeds& node_seeds() {
  static const NodeSeeds seeds;
  return seeds;
}

Hidden NodeSeeds::hidden(const Adjacency& graph, std::span<const int64_t> seeds) const {
  Hidden hidden;
  if (label_inputs_) hidden.labels = mask_of(seeds, graph.node_count());
  return hidden;
}

Query Query::to(const at::Device& device) const {
  Query query = *this;
  query.excluded = ops::move(excluded, device);
  if (!pairs) return query;
  for (Tensor* x : {&query.pairs->source, &query.pairs->target, &query.pairs->link,
                    &query.pairs->statistics, &query.pairs->candidates}) {
    *x = ops::move(*x, device);
  }
  return query;
}

// ---- Evaluation

Evaluation::Evaluation(const Seeds& kind, std::span<const int64_t> seeds, const VisibleGraph& graph)
    : kind_(kind), seeds_(seeds), graph_(graph), size_(std::max<int64_t>(1, std::ssize(seeds))) {
  constexpr int64_t kPairs = 1 << 16;  // per chunk
  constexpr int64_t kMostKept = 1 << 22;
  const int64_t pairs = kind.pairs_per_seed();
  if (pairs > 0) size_ = std::min(size_, std::max<int64_t>(1, kPairs / pairs));
  if (pairs * std::ssize(seeds) > kMostKept) {
    nodes_.resize(static_cast<size_t>(graph.arcs.node_count()));
    std::iota(nodes_.begin(), nodes_.end(), int64_t{0});
    return;
  }
  NodeIndex distinct;
  for (int64_t i = 0; i < chunks(); ++i) {
    Chunk& chunk = kept_.emplace_back();
    chunk.query = kind.query(seeds_of(i), graph);
    std::vector<int64_t> rows;
    for (const int64_t node : chunk.query.nodes) rows.push_back(distinct.number(node));
    chunk.rows = index_of(rows);
  }
  nodes_ = distinct.nodes();
}

int64_t Evaluation::chunks() const { return (std::ssize(seeds_) + size_ - 1) / size_; }

std::span<const int64_t> Evaluation::seeds_of(int64_t chunk) const {
  const int64_t first = chunk * size_;
  const int64_t count = std::min(size_, std::ssize(seeds_) - first);
  return seeds_.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
}

Tensor Evaluation::outputs(const Model& model, const Inputs& inputs,
                           const Tensor& embedding) const {
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < chunks(); ++i) {
    const auto seeds = seeds_of(i);
    Chunk made;
    if (kept_.empty()) {
      made.query = kind_.query(seeds, graph_);
      made.rows = index_of(made.query.nodes);
    }
    const Chunk& chunk = kept_.empty() ? made : kept_[static_cast<size_t>(i)];
    const at::Device device = embedding.device();
    const Tensor h = embedding.index_select(0, ops::move(chunk.rows, device));
    rows.push_back(kind_.evaluate(model, inputs, seeds, chunk.query.to(device), h).cpu());
  }
  return at::cat(rows);
}

// ---- Links with labels

Hidden LinkSeeds::hidden(const Adjacency& graph, std::span<const int64_t> seeds) const {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
  for (const int64_t seed : seeds) {
    source.push_back(targets_.source[seed]);
    target.push_back(targets_.target[seed]);
  }
  return {.arcs = {graph, source, target}, .labels = {}};
}

Query LinkSeeds::query_of(const Ends& ends, const VisibleGraph& graph) const {
  NodeIndex distinct;
  const auto rows = [&](const std::vector<int32_t>& nodes) {
    Tensor row = at::empty({std::ssize(nodes)}, at::kLong);
    auto* to = row.data_ptr<int64_t>();
    for (const int32_t node : nodes) *to++ = distinct.number(node);
    return row;
  };
  Query query;
  Pairs& pairs = query.pairs.emplace();
  pairs.source = rows(ends.source);
  pairs.target = rows(ends.target);
  if (targets_.attributes.columns > 0) pairs.link = index_of(ends.link);
  if (!ends.candidates.empty()) pairs.candidates = rows(ends.candidates);
  if (rules_.statistics) {
    pairs.statistics = pair_statistics(graph, ends.source, ends.target, rules_.symmetric);
  }
  query.nodes = distinct.nodes();
  return query;
}

Query LinkSeeds::query(std::span<const int64_t> seeds, const VisibleGraph& graph) const {
  Ends ends;
  for (const int64_t seed : seeds) ends.add(targets_.source[seed], targets_.target[seed], seed);
  return query_of(ends, graph);
}

Query LinkSeeds::training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                                const SampleKey&) const {
  return query(seeds, graph);
}

}  // namespace lase
