#pragma once

#include <limits>
#include <malloc.h>

// Training frees and reallocates the same large arrays in every step: keep them instead of
// returning them to the system, because the page faults would cost more than the arithmetic.
inline void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

// The thresholds that glibc reaches by default.
inline void return_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  ::malloc_trim(0);
}
