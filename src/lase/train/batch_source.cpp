#include "lase/train/batch_source.h"

#include <algorithm>
#include <chrono>

#include "lase/base/context.h"
#include "lase/base/error.h"

namespace lase {

BatchSource::BatchSource(const Adjacency& graph, const Sampling& sampling, Options options)
    : graph_(graph), sampling_(sampling), options_(std::move(options)) {
  const auto seeds = std::ssize(options_.order);
  require(options_.batches >= 1 && options_.batches <= std::max<int64_t>(1, seeds),
          options_.batches, " batches for ", seeds, " nodes: expected at least one node per batch");
}

BatchSource::Item BatchSource::make(int64_t i) const {
  const auto start = std::chrono::steady_clock::now();
  const auto all = std::span<const int64_t>(options_.order);
  const auto start_of = [&](int64_t batch) {
    return static_cast<size_t>(batch * std::ssize(all) / options_.batches);
  };
  Item item;
  item.seeds = all.subspan(start_of(i), start_of(i + 1) - start_of(i));
  item.number = options_.key.batch + i;
  SampleKey key = options_.key;
  key.batch = item.number;
  {
    const ThreadLimit one(1);  // the other threads train
    const Seeds& seeds = options_.seeds == nullptr ? node_seeds() : *options_.seeds;
    HiddenArcs own;
    const HiddenArcs* hidden = options_.hidden;
    if (hidden == nullptr && seeds.hides()) {
      own = seeds.hidden(graph_, item.seeds);
      hidden = &own;
    }
    item.query = seeds.training_query(item.seeds, {graph_, hidden}, key);
    item.batch = sample_batch(graph_, item.query.nodes, sampling_, key, hidden);
  }
  if (options_.snapshot != nullptr) item.baseline = options_.snapshot->of(item.batch);
  item.query = item.query.to(options_.device);
  item.batch = item.batch.to(options_.device);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  item.seconds = spent.count();
  return item;
}

}  // namespace lase
