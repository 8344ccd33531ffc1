#include "lase/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

#include "lase/base/denormals.h"

namespace lase::detail {
namespace {

struct Job;
thread_local const Job* current_job = nullptr;  // the job that this thread computes a chunk of

struct Job {
  const std::function<void(int64_t)>& chunk;
  int64_t count;
  std::atomic<int64_t> next = 0;
  bool flush = denormals_flushed();  // inherited from the calling thread
  const Job* parent = current_job;   // the job whose chunk started this one
  int wanted = 0;                    // further threads that may work on this job
  int helpers = 0;                   // threads, other than the calling one, that work on it

  void work() {
    const ThreadLimit one(1);  // no nested parallelism, unless a chunk sets another limit
    const FlushDenormals scope(flush);
    const Job* outer = std::exchange(current_job, this);
    for (int64_t i = next++; i < count; i = next++) chunk(i);
    current_job = outer;
  }

  bool is_within(const Job& job) const {
    const Job* ancestor = parent;
    while (ancestor != nullptr && ancestor != &job) ancestor = ancestor->parent;
    return ancestor == &job;
  }
};

// Threads that sleep until there is a job. They never spin: if the cores are shared with other
// programs or threads, spinning would take time from those that have work. A thread that waits for
// the last chunks of its job helps with the jobs that these chunks have started. It does not help
// with other jobs: they might take long, or need a lock that this thread holds.
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

  // `most`: the number of helpers that the caller may have, including those of nested jobs.
  void run(Job& job, int helpers, int most) {
    std::unique_lock lock(mutex_);
    while (static_cast<int>(threads_.size()) < most) {
      threads_.emplace_back([this] { help(); });
    }
    job.wanted = helpers;
    jobs_.push_back(&job);
    const int woken = std::min(helpers, idle_);
    const bool some_wait = job.parent != nullptr && waiters_ > 0;
    lock.unlock();
    for (int i = 0; i < woken; ++i) wanted_.notify_one();
    if (some_wait) waiting_.notify_all();
    job.work();
    lock.lock();
    remove(job);
    while (job.helpers > 0) {
      const auto nested = std::find_if(jobs_.begin(), jobs_.end(),
                                       [&](const Job* each) { return each->is_within(job); });
      if (nested == jobs_.end()) {
        sleep(waiting_, waiters_, lock);
      } else {
        help_with(**nested, lock);
      }
    }
  }

 private:
  // No chunk of the job is left to be started.
  void remove(Job& job) {
    if (job.wanted > 0) std::erase(jobs_, &job);
    job.wanted = 0;
  }

  static void sleep(std::condition_variable& until, int& sleepers,
                    std::unique_lock<std::mutex>& lock) {
    ++sleepers;
    until.wait(lock);
    --sleepers;
  }

  void help() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      if (jobs_.empty()) {
        sleep(wanted_, idle_, lock);
      } else {
        help_with(*jobs_.front(), lock);
      }
    }
  }

  void help_with(Job& job, std::unique_lock<std::mutex>& lock) {
    if (--job.wanted == 0) std::erase(jobs_, &job);
    ++job.helpers;
    lock.unlock();
    job.work();
    lock.lock();
    remove(job);
    if (--job.helpers == 0) waiting_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable wanted_;   // for threads of the pool
  std::condition_variable waiting_;  // for threads that wait for their job
  int idle_ = 0;                     // threads that sleep until wanted_
  int waiters_ = 0;                  // threads that sleep until waiting_
  std::deque<Job*> jobs_;            // those that want helpers
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

// The pool of this process. A child process after fork() has none of its parent's threads, and gets
// a pool of its own; that of the parent is left as it is, because its mutex may be locked.
Pool& pool() {
  static std::unique_ptr<Pool> of_process = [] {
    ::pthread_atfork(nullptr, nullptr, [] {
      (void)of_process.release();
      of_process = std::make_unique<Pool>();
      current_job = nullptr;
    });
    return std::make_unique<Pool>();
  }();
  return *of_process;
}

}  // namespace

void for_each_chunk(int64_t count, const std::function<void(int64_t)>& chunk) {
  Job job{.chunk = chunk, .count = count};
  const auto helpers = static_cast<int>(std::min<int64_t>(thread_count(), count)) - 1;
  if (helpers <= 0) {
    job.work();
  } else {
    pool().run(job, helpers, thread_count() - 1);
  }
}

}  // namespace lase::detail
