#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "lase/base/context.h"
#include "lase/ops/thread_state.h"
#include "lase/ops/workspace.h"
#include "lase/train/batch_source.h"

namespace lase {

// The batches of a BatchSource, made by a background thread while earlier ones are trained on.
class BatchStream {
 public:
  using Options = BatchSource::Options;
  using Item = BatchSource::Item;

  // `graph` and `sampling` must outlive the stream, and the stream its items.
  BatchStream(const Adjacency& graph, const Sampling& sampling, Options options);
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;
  ~BatchStream();

  // The next batch, in order; nullopt after the last.
  std::optional<Item> next();

 private:
  void run();

  BatchSource source_;
  Context context_ = Context::current();            // of the training thread
  ops::ThreadState state_;                          // of the training thread
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
