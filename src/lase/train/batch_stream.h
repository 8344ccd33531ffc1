#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lase/base/context.h"
#include "lase/inference/seeds.h"
#include "lase/ops/workspace.h"
#include "lase/sampler/sampler.h"
#include "lase/train/snapshot.h"

namespace lase {

// Number of batches of at most `size` of n seed nodes.
inline int64_t batch_count(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Batches of an epoch, sampled by a background thread while earlier ones are trained on; it also
// looks up their baseline state in a snapshot. The sampled neighbors depend only on the key.
class BatchStream {
 public:
  struct Options {
    std::vector<int64_t> order;    // seeds of all batches
    int64_t batches = 0;           // their number; sizes differ by at most 1
    SampleKey key = {};            // key.batch: number of the first batch
    Snapshot* snapshot = nullptr;  // optional
    const Seeds* seeds = nullptr;  // null: nodes
    // Arcs that pass no messages. Null: those of the seeds of a batch.
    const HiddenArcs* hidden = nullptr;
  };
  struct Item {
    std::span<const int64_t> seeds;  // valid while the stream exists
    int64_t number = 0;
    Query query;
    Batch batch;
    std::optional<Baseline> baseline;  // with a snapshot
    double seconds = 0;                // spent on sampling
  };

  // `graph` and `sampling` must outlive the stream.
  BatchStream(const Adjacency& graph, const Sampling& sampling, Options options);
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;
  ~BatchStream();

  // The next batch, in order; nullopt after the last.
  std::optional<Item> next();

 private:
  void run();

  const Adjacency& graph_;
  const Sampling& sampling_;
  Options options_;
  Context context_ = Context::current();            // of the training thread
  Workspace::Pool workspace_ = Workspace::share();  // shared with it
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  std::exception_ptr error_;
  int64_t taken_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace lase
