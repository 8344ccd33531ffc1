#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "lase/base/context.h"
#include "lase/ops/thread_state.h"
#include "lase/ops/workspace.h"
#include "lase/train/batch_source.h"

namespace lase {

// The items of a source, made by a background thread while earlier ones are trained on.
class BatchStream {
 public:
  using Item = BatchItem;

  // The stream must outlive its items.
  explicit BatchStream(std::unique_ptr<ItemSource> source);
  // A stream of BatchSource. `graph` and `sampling` must outlive the stream.
  BatchStream(const Adjacency& graph, const Sampling& sampling, BatchSource::Options options);
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;
  ~BatchStream();

  // The next item, in order; nullopt after the last.
  std::optional<Item> next();

 private:
  void run();
  // Whether the next item, number i, is to be made. How far the thread is ahead depends only on the
  // number of items taken, also at the end, so that the threads of several processes agree.
  bool wait_for_turn(int64_t i);

  std::unique_ptr<ItemSource> source_;
  Context context_ = Context::current();            // of the training thread
  ops::ThreadState state_;                          // of the training thread
  Workspace::Pool workspace_ = Workspace::share();  // shared with it
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> ready_;
  std::exception_ptr error_;
  int64_t taken_ = 0;
  bool stop_ = false;
  const int exceptions_ = std::uncaught_exceptions();
  std::thread thread_;
};

}  // namespace lase
