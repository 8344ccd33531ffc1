#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace lase {

// Uninitialized memory in huge pages if available, which reduces TLB misses for arrays with random
// access.
template <class T>
std::shared_ptr<T> large_memory(int64_t size) {
  constexpr size_t kPage = size_t{2} << 20;
  const size_t bytes = (static_cast<size_t>(size) * sizeof(T) + kPage) / kPage * kPage;
  void* memory = std::aligned_alloc(kPage, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: without it only speed suffers
  return {static_cast<T*>(memory), [](T* p) { std::free(p); }};
}

}  // namespace lase
