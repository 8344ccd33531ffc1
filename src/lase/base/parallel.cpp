#include "lase/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "lase/base/denormals.h"

namespace lase::detail {
namespace {

struct Job {
  const std::function<void(int64_t)>& piece;
  int64_t count;
  std::atomic<int64_t> next = 0;
  bool flush = denormals_flushed();  // as the thread has it whose job it is
  int helpers = 0;                   // at work on it

  void work() {
    const ThreadLimit one(1);  // no nested parallelism
    const FlushDenormals as_there(flush);
    for (int64_t i = next++; i < count; i = next++) piece(i);
  }
};

// Threads that sleep until someone has pieces to spare. They never wait by spinning: where the
// processors are shared with other programs, or with a thread beside the main one, that would take
// the time from those who have work.
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wanted_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void run(Job& job, int helpers) {
    {
      const std::lock_guard lock(mutex_);
      while (static_cast<int>(threads_.size()) < helpers) {
        threads_.emplace_back([this] { help(); });
      }
      for (int i = 0; i < helpers; ++i) jobs_.push_back(&job);
    }
    wanted_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);  // whoever has not come need not come any more
    left_.wait(lock, [&] { return job.helpers == 0; });
  }

 private:
  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [&] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      Job& job = *jobs_.front();
      jobs_.pop_front();
      ++job.helpers;
      lock.unlock();
      job.work();
      lock.lock();
      if (--job.helpers == 0) left_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable left_;
  std::deque<Job*> jobs_;  // once for each helper that may come
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

}  // namespace

void for_each_piece(int64_t count, const std::function<void(int64_t)>& piece) {
  static Pool pool;
  Job job{.piece = piece, .count = count};
  const auto helpers = static_cast<int>(std::min<int64_t>(thread_count(), count)) - 1;
  if (helpers <= 0) {
    job.work();
  } else {
    pool.run(job, helpers);
  }
}

}  // namespace lase::detail
