#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace lase {

// How this process was started together with others.
struct LaunchEnvironment {
  int64_t rank = 0;
  int64_t size = 1;
  // Where process 0, or the launcher, tells the processes how to reach each other: at an address,
  // or in a file that the processes of one machine share.
  std::string address;
  int64_t port = 29500;
  bool launcher_listens = false;  // instead of process 0
  std::string file;
  std::string restart;  // distinguishes attempts of the launcher
  std::chrono::seconds timeout = kDefaultTimeout;

  static constexpr std::chrono::seconds kDefaultTimeout{300};
};

// The variable with the path of LaunchEnvironment::file, and the one with the timeout in seconds.
inline constexpr const char* kRendezvousVariable = "LASE_RENDEZVOUS";
inline constexpr const char* kTimeoutVariable = "LASE_PROCESS_TIMEOUT";

// Reads the variables of torchrun (RANK, WORLD_SIZE), `lase launch`, srun, or
// mpirun (Open MPI and MPICH), with MASTER_ADDR and MASTER_PORT. nullopt: none of them started this
// process. Throws Error if variables are missing or wrong. `variable` returns null if a variable is
// not set.
std::optional<LaunchEnvironment> launch_environment(
    const std::function<const char*(const char* name)>& variable);
// From the environment of this process.
std::optional<LaunchEnvironment> launch_environment();

}  // namespace lase
