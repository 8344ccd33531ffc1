#include "lase/inference/seeds.h"

#include <ATen/ATen.h>

#include "lase/sampler/node_index.h"

namespace lase {

using at::Tensor;

const Seeds& node_seeds() {
  static const NodeSeeds seeds;
  return seeds;
}

HiddenArcs LinkSeeds::hidden(const Adjacency& graph, std::span<const int64_t> seeds) const {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
  for (const int64_t seed : seeds) {
    source.push_back(targets_.source[seed]);
    target.push_back(targets_.target[seed]);
  }
  return {graph, source, target};
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
  if (statistics_) {
    pairs.statistics = pair_statistics(graph, ends.source, ends.target, symmetric_);
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
