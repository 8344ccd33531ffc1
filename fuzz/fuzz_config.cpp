// Fuzzes configuration files: the input is the file of `lase train --config`. Reading it may only
// throw lase::Error, or CLI::ParseError for bad usage. Options that were accepted must survive a
// round trip through a configuration file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lase/train/options.h"

#include "cli/config.h"
#include "cli/option_flags.h"
#include "harness.h"

namespace {

// `lase train`; built once, since it has many flags.
struct Train {
  lase::TrainOptions options;
  std::string graph;
  CLI::App app{"lase"};

  Train() {
    CLI::App* command = app.add_subcommand("train", "");
    command->add_option("graph", graph)->required();
    add_flags(*command, lase::train_option_table().bind(options));
    add_flags(*command, lase::checkpoint_option_table().bind(options));
  }
};

lase::TrainOptions options_in(const std::string& path) {
  static Train train;
  train.options = {};
  auto arguments = expand_config({"train", "g", "--config", path});
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the last one first
  train.app.parse(std::move(arguments));
  return train.options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static MemoryFile file("config");
  file.set({reinterpret_cast<const char*>(data), size});
  try {
    const lase::TrainOptions options = options_in(file.path());
    lase::check(options);
    must_hold("a written configuration", [&] {
      file.set(lase::train_option_table().to_toml(options));
      if (lase::to_json(options_in(file.path())) != lase::to_json(options)) std::abort();
    });
  } catch (const lase::Error&) {      // the input was rejected
  } catch (const CLI::ParseError&) {  // the same
  }
  return 0;
}
