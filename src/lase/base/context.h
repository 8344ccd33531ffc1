#pragma once

#include <algorithm>
#include <atomic>

namespace lase {

// OMP_NUM_THREADS if set, as in torch; otherwise the number of processors available to this
// process.
int default_thread_count();

// Resources available to a computation. The current context is per thread, so that two callers in
// one process do not interfere; a thread that starts another one must pass it on.
struct Context {
  int threads = default_thread_count();  // maximum, in parallel_for
  // If it becomes true, parallel_for throws Stopped; null: never.
  const std::atomic<bool>* stop = nullptr;

  static const Context& current();
};

namespace detail {
inline thread_local Context current_context;
}  // namespace detail

inline const Context& Context::current() { return detail::current_context; }

inline int thread_count() { return Context::current().threads; }

// Sets the context of this thread and restores the previous one when it is destroyed.
class ContextScope {
 public:
  explicit ContextScope(const Context& context) : previous_(detail::current_context) {
    detail::current_context = context;
    detail::current_context.threads = std::max(1, context.threads);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ~ContextScope() { detail::current_context = previous_; }

 private:
  Context previous_;
};

// Limits this thread to `threads` threads in parallel_for.
class ThreadLimit : public ContextScope {
 public:
  explicit ThreadLimit(int threads) : ContextScope(with(threads)) {}

 private:
  static Context with(int threads) {
    Context context = Context::current();
    context.threads = threads;
    return context;
  }
};

}  // namespace lase
