#include "lase/train/divided_source.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <chrono>
#include <utility>

#include "lase/ops/fetched_rows.h"
#include "lase/sampler/node_index.h"
#include "lase/train/chunk_sum.h"

namespace lase {

using at::Tensor;

namespace {

// The distinct nodes of several batches, whose rows are fetched together.
class NodeUnion {
 public:
  // The number of each node in nodes(): int64.
  Tensor add(std::span<const int64_t> nodes) {
    std::vector<int64_t> numbers;
    for (const int64_t node : nodes) numbers.push_back(index_.number(node));
    return index_of(numbers);
  }
  const std::vector<int64_t>& nodes() const { return index_.nodes(); }

 private:
  NodeIndex index_;
};

// What one layer of a snapshot provides for the nodes of several batches: their states before the
// layer, and their sums in the layer below.
struct FetchedBaseline {
  ops::Rows h;
  ops::Rows f;
  std::vector<Tensor> sums;
};

ops::Rows fetch(const ops::FetchedRows& rows, const ops::Rows& own) {
  return own.defined() ? ops::Rows{rows.from(own.dense()), {}} : ops::Rows();
}

ops::Rows rows_at(const ops::Rows& rows, const Tensor& index) {
  return rows.defined() ? rows.at(index) : ops::Rows();
}

// The baseline of batches from the states and sums of an exact pass, whose rows are divided.
class BaselineFetch {
 public:
  BaselineFetch(ProcessGroup& group, const DividedGraph& graph,
                const std::vector<BaselineLayer>& own)
      : group_(group), graph_(graph), own_(own), unions_(own.size()), fetched_(own.size()) {}

  // The nodes of a batch: the sources of each block are the first of them.
  void add(const std::vector<int64_t>& nodes, const std::vector<Block>& blocks) {
    auto& numbers = numbers_.emplace_back();
    for (size_t l = 0; l < blocks.size(); ++l) {
      const auto targets = static_cast<size_t>(blocks[l].targets());
      numbers.push_back(unions_[l].add(std::span(nodes).first(targets)));
    }
  }

  void run() {
    for (size_t l = 0; l < own_.size(); ++l) {
      const ops::FetchedRows rows(group_, graph_.places(unions_[l].nodes()));
      for (const Tensor& sums : own_[l].sums) fetched_[l].sums.push_back(rows.from(sums));
      if (l + 1 == own_.size()) continue;
      fetched_[l].h = fetch(rows, own_[l + 1].state.h);
      fetched_[l].f = fetch(rows, own_[l + 1].state.f);
    }
  }

  // `first`: the states before the first layer.
  Baseline of(size_t batch, const Model& model, const State& first) const {
    Baseline baseline{&model, {}};
    State state = first;
    for (size_t l = 0; l < own_.size(); ++l) {
      const Tensor& targets = numbers_[batch][l];
      BaselineLayer layer{std::move(state), {}};
      for (const Tensor& sums : fetched_[l].sums) {
        layer.sums.push_back(sums.index_select(0, targets));
      }
      state = {rows_at(fetched_[l].h, targets), rows_at(fetched_[l].f, targets)};
      baseline.layers.push_back(std::move(layer));
    }
    return baseline;
  }

 private:
  ProcessGroup& group_;
  const DividedGraph& graph_;
  const std::vector<BaselineLayer>& own_;
  // By layer, of the targets of the layer, which are the sources of the next one.
  std::vector<NodeUnion> unions_;
  std::vector<FetchedBaseline> fetched_;
  std::vector<std::vector<Tensor>> numbers_;  // by batch and layer
};

}  // namespace

DividedSource::DividedSource(const DividedGraph& graph, const Adjacency& arcs,
                             const Sampling& sampling, Options options)
    : graph_(graph),
      sampler_(graph, arcs, sampling),
      options_(std::move(options)),
      group_(options_.group == nullptr ? processes_or_alone() : *options_.group),
      own_(own_chunks(options_.plan.chunks)),
      degree_(degrees(arcs)) {}

void DividedSource::abandon() {
  if (options_.group != nullptr) options_.group->abandon();
}

BatchItem DividedSource::make(int64_t i) {
  if (ready_.empty()) load(i / own_.size());
  BatchItem item = std::move(ready_.front());
  ready_.pop_front();
  return item;
}

void DividedSource::load(int64_t first_batch) {
  c10::NoGradGuard no_grad;
  const auto start = std::chrono::steady_clock::now();
  const BatchPlan& plan = options_.plan;
  const int64_t last_batch = std::min(first_batch + kWindow, plan.batches);
  std::vector<DividedSampler::Seeds> seeds;
  for (int64_t batch = first_batch; batch < last_batch; ++batch) {
    for (int64_t chunk = own_.first; chunk < own_.last; ++chunk) {
      BatchItem item;
      item.seeds = plan.seeds_of(batch, chunk);
      item.number = plan.key.batch + batch;
      if (!item.seeds.empty()) {
        seeds.push_back({{item.seeds.begin(), item.seeds.end()}, item.number});
      }
      ready_.push_back(std::move(item));
    }
  }
  auto sampled = sampler_.sample(group_, seeds, plan.key);

  NodeUnion all;
  std::vector<Tensor> rows;  // of the nodes of each batch, among all
  for (const BatchBuilder& batch : sampled.batches) rows.push_back(all.add(batch.nodes()));
  const ops::FetchedRows fetched(group_, graph_.places(all.nodes()));
  Graph window;
  window.nodes.features = fetched.from(*options_.features);
  window.link_attributes = std::move(sampled.links);
  const auto inputs = std::make_shared<const Inputs>(window, *options_.scaling);
  const Tensor degree = fetched.from(degree_);

  std::vector<Batch> batches;
  for (size_t i = 0; i < rows.size(); ++i) {
    batches.push_back(sampled.batches[i].finish(degree.index_select(0, rows[i])));
  }
  std::optional<BaselineFetch> baseline;
  if (options_.baseline != nullptr) {
    baseline.emplace(group_, graph_, *options_.baseline);
    for (size_t i = 0; i < rows.size(); ++i) {
      baseline->add(sampled.batches[i].nodes(), batches[i].blocks);
    }
    baseline->run();
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  size_t i = 0;
  for (BatchItem& item : ready_) {
    if (item.seeds.empty()) continue;
    item.query.nodes = seeds[i].nodes;
    item.batch = std::move(batches[i]);
    item.batch.nodes = rows[i];
    item.inputs = inputs;
    item.truth = options_.objective->truth(item.seeds);
    if (baseline) {
      const Model& model = *options_.baseline_model;
      item.baseline = baseline->of(i, model, model.start(*inputs, rows[i]));
    }
    item.seconds = spent.count() / static_cast<double>(ready_.size());
    ++i;
  }
}

}  // namespace lase
