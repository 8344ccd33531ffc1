#pragma once

#include <limits>
#include <malloc.h>

// Training frees and takes the same large arrays in every step: keep them instead of returning them
// to the system, whose page faults cost more than the arithmetic.
inline void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

// As programs do that say nothing.
inline void return_freed_memory() {
  constexpr int kThreshold = 128 * 1024;
  ::mallopt(M_MMAP_THRESHOLD, kThreshold);
  ::mallopt(M_TRIM_THRESHOLD, kThreshold);
  ::malloc_trim(0);
}
