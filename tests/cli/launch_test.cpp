// Several processes that compute one result.
#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <torch/version.h>
#include <unistd.h>

#include "lase/base/file.h"
#include "lase/base/format.h"
#include "lase/graph/generate.h"

#include "support.h"

namespace lase {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// A port of the loopback interface that is free now.
int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  EXPECT_EQ(::bind(descriptor, plain, length), 0);
  EXPECT_EQ(::getsockname(descriptor, plain, &length), 0);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

// Child processes, in the order in which they were started.
std::vector<pid_t> children_of(pid_t parent) {
  std::ifstream file(join("/proc/", parent, "/task/", parent, "/children"));
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

bool waits_until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class Launch : public FolderTest {
 protected:
  void SetUp() override {
    if (TORCH_VERSION_MAJOR > 1) GTEST_SKIP() << "torch has no headers of Gloo";
    generate_graph({.nodes = 300, .links = 2000}, path("g.graph"));
  }

  Strings training(const std::string& out, const Strings& more = {}) const {
    return training(out, 6, more);
  }
  Strings training(const std::string& out, int epochs, const Strings& more) const {
    Strings all = {"train",
                   path(graph_),
                   "--out",
                   path(out),
                   "--epochs",
                   join(epochs),
                   "--patience",
                   "0",
                   "--widths",
                   "4,4",
                   "--fanout",
                   "5",
                   "--strategy",
                   "snapshot",
                   "--refresh-every",
                   "3",
                   "--batch-size",
                   "32",
                   "--quiet",
                   "--eval-every",
                   "1",
                   "--features",
                   "none"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Strings launched(int processes, const Strings& command, const Strings& options = {}) {
    Strings all = {"launch", "--processes", std::to_string(processes)};
    all.insert(all.end(), options.begin(), options.end());
    all.push_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  static CliResult expect_success(const Strings& command) {
    CliResult result = run_cli(command);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  // Trains the model that all others are compared with.
  void train_alone() const { expect_success(training("one.model", {"--chunks", "16"})); }
  void expect_same_file(const std::string& a, const std::string& b) const {
    EXPECT_TRUE(read_file(path(a)) == read_file(path(b))) << a << " and " << b;
  }
  // Partitions the graph; commands that are made before and after it differ in the graph only.
  void partition(int parts) {
    expect_success(
        {"partition", path("g.graph"), "--parts", std::to_string(parts), "--out", path("g.parts")});
    graph_ = "g.parts";
  }

  std::string graph_ = "g.graph";
};

TEST_F(Launch, GivesTheSameFilesForAnyNumberOfProcesses) {
  train_alone();
  const Strings predict = {"predict", path("one.model"), path("g.graph"), "--out", path("one.csv")};
  const Strings embed = {"embed", path("one.model"), path("g.graph"), "--out", path("one.npy")};
  const Strings evaluate = {"evaluate", path("one.model"), path("g.graph")};
  expect_success(predict);
  expect_success(embed);
  const std::string scores = expect_success(evaluate).out;
  for (const int processes : {1, 2, 3}) {
    const CliResult result = expect_success(launched(processes, training("several.model")));
    EXPECT_NE(result.out.find("several.model"), std::string::npos) << result.out;
    EXPECT_EQ(result.err, "");
    expect_same_file("several.model", "one.model");
    Strings command = predict;
    command.back() = path("several.csv");
    expect_success(launched(processes, command));
    expect_same_file("several.csv", "one.csv");
    command = embed;
    command.back() = path("several.npy");
    expect_success(launched(processes, command));
    expect_same_file("several.npy", "one.npy");
    EXPECT_EQ(expect_success(launched(processes, evaluate)).out, scores);
  }
  EXPECT_EQ(files(), (Strings{"g.graph", "one.csv", "one.model", "one.npy", "several.csv",
                              "several.model", "several.npy"}));
}

TEST_F(Launch, GivesTheSameFilesOnPartsOfAGraph) {
  const Strings same = {"--refresh",      "eager", "--common-neighbors", "off",
                        "--label-inputs", "off",   "--chunks",           "16"};
  const auto with_model = [&](const std::string& command, const Strings& more) {
    Strings all = {command, path("one.model"), path(graph_)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  expect_success(training("one.model", same));
  expect_success(with_model("predict", {"--out", path("one.csv"), "--probabilities"}));
  expect_success(with_model("embed", {"--out", path("one.npy")}));
  const Strings evaluate = {"--confusion", path("one.confusion")};
  const std::string scores = expect_success(with_model("evaluate", evaluate)).out;
  partition(3);
  for (const int processes : {1, 2, 3}) {
    const CliResult result = expect_success(launched(processes, training("several.model", same)));
    EXPECT_EQ(result.err, "");
    expect_same_file("several.model", "one.model");
    const Strings predict = {"--out", path("several.csv"), "--probabilities"};
    expect_success(launched(processes, with_model("predict", predict)));
    expect_same_file("several.csv", "one.csv");
    const Strings embed = {"--out", path("several.npy")};
    expect_success(launched(processes, with_model("embed", embed)));
    expect_same_file("several.npy", "one.npy");
    EXPECT_EQ(expect_success(launched(processes, with_model("evaluate", evaluate))).out, scores);
  }
  expect_rejected(run_cli(launched(4, training("several.model", same))),
                  {"g.parts: has 3 parts for 4 processes"});
  expect_rejected(run_cli(training("g.parts/nodes", same)),
                  {"g.parts/nodes: is an input of this command and would be overwritten"});
  expect_bad_usage(run_cli(training("a.model", {"--report", path("a.html")})),
                   {"--report: not supported for partitioned graphs"});
  expect_bad_usage(
      run_cli(training("a.model", {"--task", "link-prediction"})),
      {"--task: not supported for partitioned graphs, which support only labels of nodes"});
  expect_bad_usage(run_cli(with_model("predict", {"--fanout", "3", "--out", path("a.csv")})),
                   {"--fanout: not supported for partitioned graphs"});
}

TEST_F(Launch, PrintsOneResultAndCountsBytes) {
  const CliResult result =
      expect_success(launched(3, training("a.model", {"--json", "--log", path("log")})));
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1) << result.out;
  EXPECT_EQ(result.json().at("processes"), 3);
  EXPECT_GT(result.json().at("bytes_per_step"), 0);
  const std::string log = read_file(path("log"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 6);
  EXPECT_GT(nlohmann::json::parse(log.substr(0, log.find('\n'))).at("bytes_sent"), 0);
}

TEST_F(Launch, JoinsProcessesOfOtherLaunchersAtAnAddress) {
  train_alone();
  for (const auto& [rank, size] :
       {std::pair("RANK", "WORLD_SIZE"), std::pair("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        std::pair("SLURM_PROCID", "SLURM_STEP_NUM_TASKS")}) {
    const std::string port = join("MASTER_PORT=", free_port());
    const auto environment = [&, rank = rank, size = size](int i) {
      return Strings{join(rank, "=", i), join(size, "=2"), "MASTER_ADDR=127.0.0.1", port,
                     "LASE_PROCESS_TIMEOUT=30"};
    };
    RunningCli first(training("several.model"), environment(0));
    const CliResult other = RunningCli(training("several.model"), environment(1)).end();
    const CliResult result = first.end();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(other.out + other.err, "");
    expect_same_file("several.model", "one.model");
  }
}

TEST_F(Launch, RefusesProcessesThatDoNotComputeTheSame) {
  const auto run = [&](const Strings& first_command, const Strings& other_command) {
    const std::string port = join("MASTER_PORT=", free_port());
    const Strings common = {"WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", port,
                            "LASE_PROCESS_TIMEOUT=30"};
    Strings environment = common;
    environment.push_back("RANK=0");
    RunningCli first(first_command, environment);
    environment.back() = "RANK=1";
    EXPECT_EQ(RunningCli(other_command, environment).end().code, 1);
    return first.end();
  };
  expect_rejected(run(training("a.model"), training("a.model", {"--seed", "2"})),
                  {"cannot train together: the option seed is 1 in process 0 and 2 in process 1"});
  train_alone();
  expect_success(training("other.model", {"--seed", "2"}));
  const auto predict = [&](const std::string& model) {
    return Strings{"predict", path(model), path("g.graph"), "--out", path("out.csv")};
  };
  expect_rejected(run(predict("one.model"), predict("other.model")),
                  {"cannot predict together: the model is"});
  EXPECT_FALSE(fs::exists(path("out.csv")));
}

TEST_F(Launch, PrintsTheErrorOfProcess0Once) {
  const std::string port = join("MASTER_PORT=", free_port());
  const auto environment = [&](int rank) {
    return Strings{join("RANK=", rank), "WORLD_SIZE=3", "MASTER_ADDR=127.0.0.1", port,
                   "LASE_PROCESS_TIMEOUT=30"};
  };
  RunningCli first({"train", path("none.graph")}, environment(0));
  RunningCli second(training("a.model"), environment(1));
  const CliResult third = RunningCli(training("a.model"), environment(2)).end();
  expect_rejected(first.end(), {"none.graph: cannot be opened"});
  for (const CliResult& other : {second.end(), third}) {
    EXPECT_EQ(other.code, 1);
    EXPECT_EQ(other.err, "");
  }
}

TEST_F(Launch, RejectsWhatItCannotRun) {
  expect_bad_usage(run_cli({"launch", "--processes", "2", "--", "info", path("g.graph")}),
                   {"expected train, evaluate, predict or embed, got 'info'"});
  expect_bad_usage(run_cli({"launch", "--processes", "2"}), {"command is required"});
  expect_bad_usage(run_cli(launched(0, training("a.model"))), {"--processes"});
  expect_bad_usage(run_cli(launched(2, training("a.model", {"--epochz", "3"}))), {"--epochz"});
  expect_rejected(run_cli(launched(3, {"train", path("none.graph")})), {"none.graph: cannot be"});
  expect_bad_usage(run_cli(launched(3, training("a.model", {"--chunks", "2"}))),
                   {"--chunks 2: too few for 3 processes"});
  expect_rejected(run_cli(launched(3, training("a.model", {"--config", path("none.toml")}))),
                  {"none.toml"});
  expect_rejected(run_cli(training("a.model"), {"RANK=0", "WORLD_SIZE=2"}), {"MASTER_ADDR"});
  EXPECT_EQ(files(), Strings{"g.graph"});
}

// A long training run in three processes, which writes checkpoints.
class LongLaunch : public Launch {
 protected:
  Strings resumable(const std::string& out, int epochs) const {
    return training(out, epochs,
                    {"--checkpoint-every", "1", "--resume", "--chunks", "16", "--log", path("log"),
                     "--refresh", "eager", "--common-neighbors", "off", "--label-inputs", "off"});
  }
  // Starts it, and waits for the second checkpoint.
  std::unique_ptr<RunningCli> start() const {
    auto running = std::make_unique<RunningCli>(
        launched(3, resumable("several.model", 1'000'000), {"--timeout", "5"}));
    const std::string checkpoint = path("several.model.checkpoint");
    EXPECT_TRUE(waits_until([&] { return fs::exists(checkpoint); }));
    const auto first = fs::last_write_time(checkpoint);
    EXPECT_TRUE(waits_until([&] { return fs::last_write_time(checkpoint) != first; }));
    return running;
  }
  static void expect_gone(const std::vector<pid_t>& processes) {
    for (const pid_t process : processes) EXPECT_NE(::kill(process, 0), 0) << process;
  }
};

TEST_F(LongLaunch, NamesAKilledProcessAndResumesInAnotherNumber) {
  for (const size_t killed : {0, 2}) {
    const auto running = start();
    const auto processes = children_of(running->pid());
    ASSERT_EQ(processes.size(), 3U);
    ::kill(processes[killed], SIGKILL);
    expect_rejected(running->end(), {join("process ", killed, " was killed")});
    expect_gone(processes);
  }
  EXPECT_EQ(files(), (Strings{"g.graph", "log", "several.model.checkpoint"}));
  // Another maximum number of epochs continues the run.
  const std::string log = read_file(path("log"));
  const auto epochs = static_cast<int>(std::count(log.begin(), log.end(), '\n')) + 3;
  expect_success(launched(2, resumable("several.model", epochs)));
  expect_success(resumable("one.model", epochs));
  expect_same_file("several.model", "one.model");
}

TEST_F(LongLaunch, ResumesOnPartsAndOnTheWholeGraph) {
  partition(3);
  for (const size_t killed : {0, 2}) {
    const auto running = start();
    const auto processes = children_of(running->pid());
    ASSERT_EQ(processes.size(), 3U);
    ::kill(processes[killed], SIGKILL);
    expect_rejected(running->end(), {join("process ", killed, " was killed")});
    expect_gone(processes);
  }
  const std::string log = read_file(path("log"));
  const auto epochs = static_cast<int>(std::count(log.begin(), log.end(), '\n')) + 3;
  expect_success(launched(2, resumable("several.model", epochs)));
  graph_ = "g.graph";
  expect_success(resumable("one.model", epochs));
  expect_same_file("several.model", "one.model");
}

TEST_F(LongLaunch, StopsOnPartsWithTheProcessThatDoesNotRespond) {
  partition(3);
  const auto running = start();
  const auto processes = children_of(running->pid());
  ::kill(processes[1], SIGSTOP);
  expect_rejected(running->end(), {"process 1 was killed or does not respond"});
  expect_gone(processes);
}

TEST_F(LongLaunch, NamesAProcessThatDoesNotRespond) {
  const auto running = start();
  const auto processes = children_of(running->pid());
  ASSERT_EQ(processes.size(), 3U);
  ::kill(processes[1], SIGSTOP);
  expect_rejected(running->end(), {"process 1 was killed or does not respond"});
  expect_gone(processes);
}

TEST_F(LongLaunch, KeepsTheBestWeightsWhenInterrupted) {
  const auto running = start();
  const auto processes = children_of(running->pid());
  const CliResult result = running->end(SIGINT);
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_TRUE(fs::exists(path("several.model")));
  expect_gone(processes);
}

TEST_F(LongLaunch, EndsAllProcessesIfTheLauncherIsKilled) {
  const auto running = start();
  const auto processes = children_of(running->pid());
  running->end(SIGKILL);
  EXPECT_TRUE(waits_until([&] {
    return std::all_of(processes.begin(), processes.end(),
                       [](pid_t process) { return ::kill(process, 0) != 0; });
  }));
}

}  // namespace
}  // namespace lase
