#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "lase/base/option_table.h"

#include "cli/together.h"

// Whether processes that were started together run a command together, or each on its own.
enum class Processes : uint8_t { kEach, kTogether };

// One run of the program: the flags that every command has, and the output stream. With --json,
// stdout ends with one JSON object and human-readable output goes to stderr.
class Session {
 public:
  Session(std::string line, JoinProcesses join) : line_(std::move(line)), join_(join) {}

  // Adds a command with the common flags. `command_body` is called after parsing and returns the
  // JSON result.
  CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& help,
                        std::function<nlohmann::json()> command_body,
                        Processes processes = Processes::kEach);

  std::ostream& out() const;                         // for human-readable output
  const std::string& line() const { return line_; }  // the command line, as typed

 private:
  // Runs a command and prints its result.
  void run(const std::function<nlohmann::json()>& command, int default_threads) const;

  std::string line_;
  JoinProcesses join_;
  bool json_ = false;
  struct Common {
    int64_t threads = 0;
  } common_;
  std::string config_;
};

// Each adds one command to the app.
void add_import(CLI::App& app, Session& session);
void add_info(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_launch(CLI::App& app, Session& session);
void add_partition(CLI::App& app, Session& session);
void add_generate(CLI::App& app, Session& session);
void add_train(CLI::App& app, Session& session);
void add_tune(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_reproduce(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_evaluate(CLI::App& app, Session& session);
void add_predict(CLI::App& app, Session& session);
void add_embed(CLI::App& app, Session& session);
void add_line(CLI::App& app, Session& session);
void add_deepwalk(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_neighbors(CLI::App& app, Session& session);
void add_kernel(CLI::App& app, Session& session);
void add_download(CLI::App& app, Session& session);
void add_options(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_bench_exchange(CLI::App& bench, Session& session);
void add_bench_links(CLI::App& bench, Session& session);
void add_bench_sampling(CLI::App& bench, Session& session);
