#include <CLI/CLI.hpp>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/version.h"

#include "config.h"
#include "session.h"

namespace {

constexpr int kBadInput = 1;
constexpr int kBadUsage = 2;

int run(const std::vector<std::string>& arguments) {
  CLI::App app("lase learns from graphs whose links carry attributes.", "lase");
  app.set_version_flag("--version", std::string("lase ") + lase::kVersion);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help of all verbs");
  Session session;
  add_generate(app, session);
  add_import(app, session);
  add_info(app, session);
  add_export(app, session);
  add_train(app, session);
  add_tune(app, session);
  add_evaluate(app, session);
  add_predict(app, session);
  add_embed(app, session);
  add_explain(app, session);
  add_line(app, session);
  add_deepwalk(app, session);
  add_kernel(app, session);
  add_download(app, session);
  add_reproduce(app, session);
  add_bench(app, session);
  try {
    auto expanded = expand_config(arguments);
    std::reverse(expanded.begin(), expanded.end());  // CLI11 takes them last to first
    app.parse(std::move(expanded));
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? 0 : kBadUsage;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    std::cerr << "lase: the machine has not enough memory for this\n";
  } catch (const std::exception& error) {
    std::cerr << "lase: " << error.what() << "\n";
  }
  return kBadInput;
}
