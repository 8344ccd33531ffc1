#include "lase/train/batch_stream.h"

#include <utility>

#include "lase/ops/one_thread.h"

namespace lase {

namespace {

constexpr size_t kAhead = 2;

}  // namespace

BatchStream::BatchStream(const Adjacency& graph, const Sampling& sampling, Options options)
    : source_(graph, sampling, std::move(options)), state_(source_.device()) {
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
  const ops::ThreadState::Scope state(state_);
  try {
    for (int64_t i = 0; i < source_.batches(); ++i) {
      Item item = source_.make(i);
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
  if (taken_ == source_.batches()) return std::nullopt;
  changed_.wait(lock, [&] { return !ready_.empty() || error_; });
  if (ready_.empty()) std::rethrow_exception(error_);
  Item item = std::move(ready_.front());
  ready_.pop_front();
  ++taken_;
  changed_.notify_all();
  return item;
}

}  // namespace lase
