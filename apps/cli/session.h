#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

#include "lase/base/option_table.h"

// One run of the program: the flags that every command has, and the output stream. With --json,
// stdout ends with one JSON object and human-readable output goes to stderr.
class Session {
 public:
  explicit Session(std::string line) : line_(std::move(line)) {}

  // Adds a command with the common flags. `run` is called after parsing and returns the JSON
  // result.
  CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& help,
                        std::function<nlohmann::json()> run);

  std::ostream& out() const;                         // for human-readable output
  const std::string& line() const { return line_; }  // the command line, as typed

 private:
  std::string line_;
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
void add_bench_links(CLI::App& bench, Session& session);
void add_bench_sampling(CLI::App& bench, Session& session);
