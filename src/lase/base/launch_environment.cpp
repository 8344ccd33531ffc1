#include "lase/base/launch_environment.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "lase/base/error.h"

namespace lase {

namespace {

using Variable = std::function<const char*(const char*)>;

// The names of the variables that a launcher sets.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
};

constexpr std::array kLaunchers = {
    Launcher{"torchrun", "RANK", "WORLD_SIZE"},
    Launcher{"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    Launcher{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    Launcher{"mpirun", "PMI_RANK", "PMI_SIZE"},
};

int64_t number(const Variable& variable, const char* name, int64_t least, int64_t most) {
  const std::string_view text = variable(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(
      error == std::errc() && end == text.data() + text.size() && least <= value && value <= most,
      "the environment variable ", name, " is ", quote(text), ": expected a number from ", least,
      " to ", most);
  return value;
}

}  // namespace

std::optional<LaunchEnvironment> launch_environment(const Variable& variable) {
  for (const Launcher& launcher : kLaunchers) {
    if (variable(launcher.rank) == nullptr || variable(launcher.size) == nullptr) continue;
    LaunchEnvironment launch;
    launch.size = number(variable, launcher.size, 1, std::numeric_limits<int32_t>::max());
    launch.rank = number(variable, launcher.rank, 0, launch.size - 1);
    // A shell that srun has started sets these variables, too.
    if (launch.size == 1 && std::string_view(launcher.name) == "srun") return std::nullopt;
    if (variable(kTimeoutVariable) != nullptr) {
      constexpr int64_t kWeek = int64_t{7} * 24 * 3600;
      launch.timeout = std::chrono::seconds(number(variable, kTimeoutVariable, 1, kWeek));
    }
    if (const char* file = variable(kRendezvousVariable)) {
      launch.file = file;
      return launch;
    }
    if (const char* port = variable("MASTER_PORT"); port != nullptr) {
      launch.port = number(variable, "MASTER_PORT", 1, std::numeric_limits<uint16_t>::max());
    }
    const char* address = variable("MASTER_ADDR");
    require(address != nullptr || launch.size == 1, "process ", launch.rank, " of ", launch.size,
            " (", launcher.name,
            ") does not know where process 0 runs: set the environment "
            "variable MASTER_ADDR to the name of that machine for all processes");
    if (address != nullptr) launch.address = address;
    const char* agent = variable("TORCHELASTIC_USE_AGENT_STORE");
    launch.launcher_listens = agent != nullptr && std::string_view(agent) == "True";
    if (const char* restart = variable("TORCHELASTIC_RESTART_COUNT")) launch.restart = restart;
    return launch;
  }
  return std::nullopt;
}

std::optional<LaunchEnvironment> launch_environment() {
  return launch_environment([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace lase
