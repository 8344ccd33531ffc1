#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>

// One run of the program: the flags that every verb has, and where results go. With --json the last
// line of stdout is one JSON object and what people read goes to stderr.
class Session {
 public:
  // A verb with the common flags; `run` is called once the command line has been read, and what it
  // returns is the JSON result.
  CLI::App* add_verb(CLI::App& parent, const std::string& name, const std::string& help,
                     std::function<nlohmann::json()> run);

  std::ostream& out() const;

 private:
  bool json_ = false;
  int threads_ = 0;
  std::string config_;
};

// The verbs.
void add_import(CLI::App& app, Session& session);
void add_info(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_generate(CLI::App& app, Session& session);
void add_train(CLI::App& app, Session& session);
void add_tune(CLI::App& app, Session& session);
void add_reproduce(CLI::App& app, Session& session);
void add_evaluate(CLI::App& app, Session& session);
void add_predict(CLI::App& app, Session& session);
void add_embed(CLI::App& app, Session& session);
void add_line(CLI::App& app, Session& session);
void add_deepwalk(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_kernel(CLI::App& app, Session& session);
void add_download(CLI::App& app, Session& session);
void add_options(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_bench_sampling(CLI::App& bench, Session& session);
