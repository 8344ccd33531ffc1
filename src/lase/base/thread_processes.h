#pragma once

#include <cstdint>
#include <functional>

#include "lase/base/process_group.h"

namespace lase {

// Calls body(rank) in `processes` threads of this process, which form a group, as if they were
// processes. The first exception is rethrown; the other threads then fail as if that process had
// stopped.
void run_processes(int64_t processes, const std::function<void(int64_t rank)>& body);

}  // namespace lase
