#pragma once

#include <memory>

#include "lase/base/launch_environment.h"
#include "lase/base/process_group.h"

namespace lase {

// Connects this process to the others, with Gloo. Throws Error if some of them do not join within
// the timeout, or if lase was built without Gloo.
std::unique_ptr<ProcessGroup> join_processes(const LaunchEnvironment& launch);

}  // namespace lase
