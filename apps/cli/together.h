#pragma once

#include <functional>
#include <memory>

#include "lase/base/launch_environment.h"
#include "lase/base/process_group.h"

// Connects this process to those that were started with it.
using JoinProcesses = std::unique_ptr<lase::ProcessGroup> (*)(const lase::LaunchEnvironment&);

// Runs a command in all processes. Process 0 prints, and one process reports an error.
void run_together(const lase::LaunchEnvironment& launch, JoinProcesses join,
                  const std::function<void()>& run);

// The cores of this process, divided among the current processes that share them; or
// OMP_NUM_THREADS if it is set. All of them call this.
int threads_per_process();

// Whether this is one of several processes, but not process 0.
bool is_other_process();
