#pragma once

#include <limits>
#include <malloc.h>

// Training frees and takes the same large arrays in every step: keep them instead of returning them
// to the system, whose page faults cost more than the arithmetic.
inline void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

// As programs do that say nothing: the thresholds that glibc comes to by itself.
inline void return_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  ::malloc_trim(0);
}
