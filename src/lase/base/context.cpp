#include "lase/base/context.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <thread>

namespace lase {

int default_thread_count() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const int given = wanted != nullptr ? std::atoi(wanted) : 0;
  if (given > 0) return given;
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof(usable), &usable) == 0) return std::max(1, CPU_COUNT(&usable));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace lase
