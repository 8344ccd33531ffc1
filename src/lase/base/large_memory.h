#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace lase {

// Uninitialised memory in large pages where the system has them, for arrays that are read at
// random: an address in them is found without walking the page table.
template <class T>
std::shared_ptr<T> large_memory(int64_t size) {
  constexpr size_t kPage = size_t{2} << 20;
  const size_t bytes = (static_cast<size_t>(size) * sizeof(T) + kPage) / kPage * kPage;
  void* memory = std::aligned_alloc(kPage, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory, bytes, MADV_HUGEPAGE);  // advice: without it all is the same, only slower
  return {static_cast<T*>(memory), [](T* p) { std::free(p); }};
}

}  // namespace lase
