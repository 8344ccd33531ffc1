#include "lase/base/launch_environment.h"

#include <map>
#include <string>

#include "support.h"

namespace lase {
namespace {

using Variables = std::map<std::string, std::string>;

std::optional<LaunchEnvironment> read(const Variables& variables) {
  return launch_environment([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(LaunchEnvironment, IsNoneWithoutALauncher) {
  EXPECT_FALSE(read({}));
  EXPECT_FALSE(read({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}));
  EXPECT_FALSE(read({{"RANK", "0"}}));
  EXPECT_FALSE(read({{"SLURM_PROCID", "0"}}));                                 // a batch script
  EXPECT_FALSE(read({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}));  // a shell
}

TEST(LaunchEnvironment, IsThatOfEveryLauncher) {
  const Variables address = {{"MASTER_ADDR", "node7"}, {"MASTER_PORT", "1234"}};
  for (Variables variables :
       {Variables{{"RANK", "3"}, {"WORLD_SIZE", "8"}},
        Variables{{"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "8"}},
        Variables{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}},
        Variables{{"PMI_RANK", "3"}, {"PMI_SIZE", "8"}}}) {
    variables.insert(address.begin(), address.end());
    const auto launch = read(variables);
    ASSERT_TRUE(launch) << variables.begin()->first;
    EXPECT_EQ(launch->rank, 3);
    EXPECT_EQ(launch->size, 8);
    EXPECT_EQ(launch->address, "node7");
    EXPECT_EQ(launch->port, 1234);
    EXPECT_FALSE(launch->launcher_listens);
    EXPECT_EQ(launch->timeout, LaunchEnvironment::kDefaultTimeout);
    EXPECT_EQ(launch->file, "");
  }
}

TEST(LaunchEnvironment, MayNameAFileAndATimeout) {
  const auto launch = read({{"RANK", "1"},
                            {"WORLD_SIZE", "2"},
                            {kRendezvousVariable, "/tmp/file"},
                            {kTimeoutVariable, "7"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->file, "/tmp/file");
  EXPECT_EQ(launch->timeout, std::chrono::seconds(7));
}

TEST(LaunchEnvironment, KnowsThatTorchrunListensAndRestarts) {
  const auto launch = read({{"RANK", "0"},
                            {"WORLD_SIZE", "2"},
                            {"MASTER_ADDR", "a"},
                            {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                            {"TORCHELASTIC_RESTART_COUNT", "2"}});
  ASSERT_TRUE(launch);
  EXPECT_TRUE(launch->launcher_listens);
  EXPECT_EQ(launch->restart, "2");
  EXPECT_EQ(launch->port, 29500);
}

TEST(LaunchEnvironment, SaysWhatIsMissingOrWrong) {
  const Variables good = {
      {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
  const auto with = [&](const std::string& name, const std::string& value) {
    return [=] {
      Variables variables = good;
      variables[name] = value;
      read(variables);
    };
  };
  expect_error(
      [&] {
        read({{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}});
      },
      {"process 1 of 2 (srun) does not know where process 0 runs", "MASTER_ADDR"});
  expect_error(with("RANK", "2"), {"RANK is '2': expected a number from 0 to 1"});
  expect_error(with("RANK", "-1"), {"RANK is '-1'"});
  expect_error(with("RANK", "1x"), {"RANK is '1x'"});
  expect_error(with("WORLD_SIZE", "0"), {"WORLD_SIZE is '0': expected a number from 1"});
  expect_error(with("MASTER_PORT", "65536"), {"MASTER_PORT is '65536'", "from 1 to 65535"});
  expect_error(with(kTimeoutVariable, "0"), {"LASE_PROCESS_TIMEOUT is '0'"});
  // A single process needs no address.
  EXPECT_EQ(read({{"RANK", "0"}, {"WORLD_SIZE", "1"}})->size, 1);
}

}  // namespace
}  // namespace lase
