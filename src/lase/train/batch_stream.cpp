#include "lase/train/batch_stream.h"

#include <utility>

#include "lase/ops/one_thread.h"

namespace lase {

BatchStream::BatchStream(std::unique_ptr<ItemSource> source)
    : source_(std::move(source)), state_(source_->device()) {
  if (source_->in_background()) thread_ = std::thread([this] { run(); });
}

BatchStream::BatchStream(const Adjacency& graph, const Sampling& sampling,
                         BatchSource::Options options)
    : BatchStream(std::make_unique<BatchSource>(graph, sampling, std::move(options))) {}

BatchStream::~BatchStream() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  // After an error of this process, other processes may not answer any more.
  if (std::uncaught_exceptions() > exceptions_) source_->abandon();
  if (thread_.joinable()) thread_.join();
}

bool BatchStream::wait_for_turn(int64_t i) {
  std::unique_lock lock(mutex_);
  const auto due = [&] { return i <= taken_ + source_->ahead(); };
  changed_.wait(lock, [&] { return stop_ || due(); });
  return due();
}

void BatchStream::run() {
  const ContextScope context(context_);
  const ops::OneThread one_thread;
  const Workspace workspace(workspace_);
  const ops::ThreadState::Scope state(state_);
  try {
    for (int64_t i = 0; i < source_->items() && wait_for_turn(i); ++i) {
      Item item = source_->make(i);
      const std::lock_guard lock(mutex_);
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
  if (taken_ == source_->items()) return std::nullopt;
  if (!source_->in_background()) return source_->make(taken_++);
  changed_.wait(lock, [&] { return !ready_.empty() || error_; });
  if (ready_.empty()) std::rethrow_exception(error_);
  Item item = std::move(ready_.front());
  ready_.pop_front();
  ++taken_;
  changed_.notify_all();
  return item;
}

}  // namespace lase
