#include "lase/train/batch_stream.h"

#include <algorithm>
#include <chrono>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/ops/one_thread.h"

namespace lase {

namespace {

constexpr size_t kAhead = 2;

}  // namespace

BatchStream::BatchStream(const Adjacency& graph, const Sampling& sampling, Options options)
    : graph_(graph), sampling_(sampling), options_(std::move(options)) {
  const auto seeds = std::ssize(options_.order);
  require(options_.batches >= 1 && options_.batches <= std::max<int64_t>(1, seeds),
          options_.batches, " batches for ", seeds, " nodes: expected at least one node per batch");
  thread_ = std::thread([this] { run(); });
}

BatchStream::~BatchStream() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BatchStream::run() {
  const ContextScope context(context_);
  const ops::OneThread one_thread;
  const Workspace workspace(workspace_);
  try {
    for (int64_t i = 0; i < options_.batches; ++i) {
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
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      item.seconds = spent.count();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || ready_.size() < kAhead; });
      if (stop_) return;
      ready_.push_back(std::move(item));
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = std::current_exception();
    changed_.notify_all();
  }
}

std::optional<BatchStream::Item> BatchStream::next() {
  std::unique_lock lock(mutex_);
  if (taken_ == options_.batches) return std::nullopt;
  changed_.wait(lock, [&] { return !ready_.empty() || error_; });
  if (ready_.empty()) std::rethrow_exception(error_);
  Item item = std::move(ready_.front());
  ready_.pop_front();
  ++taken_;
  changed_.notify_all();
  return item;
}

}  // namespace lase
