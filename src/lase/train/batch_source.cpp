#include "lase/train/batch_source.h"

#include <algorithm>
#include <chrono>

#include "lase/base/context.h"
#include "lase/base/error.h"
#include "lase/ops/device.h"
#include "lase/train/chunk_sum.h"

namespace lase {

namespace {

std::span<const int64_t> part(std::span<const int64_t> all, int64_t parts, int64_t number) {
  const auto [first, last] = part_of(std::ssize(all), parts, number);
  return all.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
}

}  // namespace

std::span<const int64_t> BatchPlan::seeds_of(int64_t batch) const {
  return part(order, batches, batch);
}

std::span<const int64_t> BatchPlan::seeds_of(int64_t batch, int64_t chunk) const {
  return part(seeds_of(batch), chunks, chunk);
}

BatchSource::BatchSource(const Adjacency& graph, const Sampling& sampling, Options options)
    : graph_(graph),
      sampling_(sampling),
      options_(std::move(options)),
      own_(own_chunks(options_.plan.chunks)) {
  const auto seeds = std::ssize(options_.plan.order);
  const int64_t batches = options_.plan.batches;
  require(batches >= 1 && batches <= std::max<int64_t>(1, seeds), batches, " batches for ", seeds,
          " nodes: expected at least one node per batch");
}

bool BatchSource::fill_slot(Item& item, const SampleKey& key) const {
  item.slot = options_.sampler->sample_into_slot(item.seeds, sampling_, key);
  if (item.slot == nullptr) return false;
  item.slot->put_truth(options_.objective->truth(item.seeds));
  item.slot->end();
  item.batch = item.slot->batch;
  item.truth = item.slot->truth;
  item.snapshot = options_.snapshot;
  return true;
}

void BatchSource::sample(Item& item, std::span<const int64_t> batch, const SampleKey& key) const {
  const Seeds& seeds = options_.seeds == nullptr ? node_seeds() : *options_.seeds;
  Hidden own;
  if (options_.hidden == nullptr && seeds.hides()) own = seeds.hidden(graph_, batch);
  const Hidden& hidden = options_.hidden == nullptr ? own : *options_.hidden;
  const HiddenArcs* arcs = hidden.some_arcs();
  item.hidden_labels = hidden.labels;
  SampleKey of_seeds = key;
  of_seeds.first_seed = item.seeds.data() - batch.data();
  item.query = seeds.training_query(item.seeds, {graph_, arcs}, of_seeds);
  item.batch = options_.sampler == nullptr
                   ? sample_batch(graph_, item.query.nodes, sampling_, key, arcs)
                   : options_.sampler->sample(item.query.nodes, sampling_, key, arcs);
}

void BatchSource::complete(Item& item) const {
  if (options_.snapshot != nullptr) item.baseline = options_.snapshot->of(item.batch);
  item.query = item.query.to(options_.device);
  item.hidden_labels = ops::move(item.hidden_labels, options_.device);
  item.batch = item.batch.to(options_.device);
  if (options_.objective != nullptr) {
    item.truth = ops::move(options_.objective->truth(item.seeds), options_.device);
  }
}

BatchSource::Item BatchSource::sampled(int64_t i) const {
  const BatchPlan& plan = options_.plan;
  const int64_t number = i / own_.size();
  const auto batch = plan.seeds_of(number);
  Item item;
  item.seeds = plan.seeds_of(number, own_.first + i % own_.size());
  item.number = plan.key.batch + number;
  if (item.seeds.empty()) return item;
  SampleKey key = plan.key;
  key.batch = item.number;
  if (!options_.slots || !fill_slot(item, key)) sample(item, batch, key);
  return item;
}

BatchSource::Item BatchSource::make(int64_t i) {
  const auto start = std::chrono::steady_clock::now();
  Item item;
  {
    const ThreadLimit one(1);  // the other threads train
    item = sampled(i);
  }
  if (item.seeds.empty()) return item;
  if (item.slot == nullptr) complete(item);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  item.seconds = spent.count();
  return item;
}

LayerNodes BatchSource::targets() const {
  LayerNodes all(sampling_.fanouts.size());
  for (int64_t i = 0; i < items(); ++i) {
    const Item item = sampled(i);
    if (item.seeds.empty()) continue;
    const at::Tensor nodes = item.batch.nodes.cpu();
    const auto* node = nodes.data_ptr<int64_t>();
    for (size_t l = 0; l < all.size(); ++l) {
      all[l].insert(all[l].end(), node, node + item.batch.blocks[l].targets());
    }
  }
  for (auto& nodes : all) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
  return all;
}

}  // namespace lase
