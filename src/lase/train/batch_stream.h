#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lase/base/context.h"
#include "lase/ops/workspace.h"
#include "lase/sampler/sampler.h"
#include "lase/train/snapshot.h"

namespace lase {

// Batches of an epoch, drawn by a thread of its own while the ones before are computed with; it
// also asks a snapshot for what it knows of them. What is drawn depends on the key alone.
class BatchStream {
 public:
  struct Options {
    std::vector<int64_t> order;    // the seeds of all batches
    int64_t size = 0;              // seeds a batch
    DrawKey key = {};              // its batch is the number of the first
    Snapshot* snapshot = nullptr;  // or none
  };
  struct Item {
    std::span<const int64_t> seeds;  // valid as long as the stream
    int64_t number = 0;
    Batch batch;
    std::optional<Past> past;  // with a snapshot
    double seconds = 0;        // that drawing it took
  };

  // `graph` and `sampling` must outlive the stream.
  BatchStream(const Adjacency& graph, const Sampling& sampling, Options options);
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;
  ~BatchStream();

  // In order; nothing after the last.
  std::optional<Item> next();

 private:
  void run();
  int64_t count() const;

  const Adjacency& graph_;
  const Sampling& sampling_;
  Options options_;
  Context context_ = Context::current();                      // of the thread that computes
  ops::Workspace::Pool workspace_ = ops::Workspace::share();  // likewise
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  std::exception_ptr error_;
  int64_t taken_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace lase
