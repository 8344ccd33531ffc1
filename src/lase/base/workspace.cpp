#include "lase/base/workspace.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "lase/base/large_memory.h"

namespace lase {

class BufferPool {
 public:
  using Buffer = std::shared_ptr<std::byte>;

  // Rounds up by at most 1/8, so that arrays whose sizes vary slightly between steps share buffers.
  static int64_t size_class(int64_t bytes) {
    const int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes))) / 8;
    return (bytes + step - 1) / step * step;
  }

  Buffer take(int64_t size) {
    const std::lock_guard lock(mutex_);
    live_ += size;
    most_ = std::max(most_, live_);
    const auto found = free_.find(size);
    if (found != free_.end()) {
      Buffer buffer = std::move(found->second.back());
      found->second.pop_back();
      if (found->second.empty()) free_.erase(found);
      kept_ -= size;
      return buffer;
    }
    while (kept_ > 0 && live_ + kept_ > most_ + most_ / 4) drop_one();
    return large_memory<std::byte>(size);
  }

  void give(Buffer buffer, int64_t size) {
    const std::lock_guard lock(mutex_);
    live_ -= size;
    if (users_ == 0) return;
    kept_ += size;
    free_[size].push_back(std::move(buffer));
  }

  void join() {
    const std::lock_guard lock(mutex_);
    ++users_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--users_ > 0) return;
    free_.clear();
    kept_ = 0;
  }

 private:
  void drop_one() {
    const auto largest = std::prev(free_.end());
    kept_ -= largest->first;
    largest->second.pop_back();
    if (largest->second.empty()) free_.erase(largest);
  }

  std::mutex mutex_;
  std::map<int64_t, std::vector<Buffer>> free_;  // by size
  int64_t live_ = 0;                             // bytes in use
  int64_t most_ = 0;                             // peak of live_
  int64_t kept_ = 0;                             // bytes in free_
  int users_ = 0;
};

namespace {

thread_local Workspace::Pool current;

}  // namespace

Workspace::Workspace() : Workspace(current != nullptr ? current : std::make_shared<BufferPool>()) {}

Workspace::Workspace(Pool pool) : previous_(std::exchange(current, std::move(pool))) {
  if (current != nullptr) current->join();
}

Workspace::~Workspace() {
  if (current != nullptr) current->leave();
  current = std::move(previous_);
}

Workspace::Pool Workspace::share() { return current; }

std::shared_ptr<std::byte> workspace_memory(int64_t bytes) {
  if (current == nullptr || bytes < kLargeBuffer) {
    constexpr size_t kAlignment = 64;
    const size_t size = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
    if (memory == nullptr) throw std::bad_alloc();
    return {memory, [](std::byte* p) { std::free(p); }};
  }
  const int64_t size = BufferPool::size_class(bytes);
  auto buffer = current->take(size);
  std::byte* data = buffer.get();
  return {data, [pool = current, size, buffer = std::move(buffer)](std::byte*) mutable {
            pool->give(std::move(buffer), size);
          }};
}

}  // namespace lase
