// The program with all commands.

#include <torch/version.h>

#include "lase/distributed/join.h"

#include "cli/program.h"

int main(int argc, char** argv) {
  Commands commands = graph_commands();
  commands.insert({{"check", add_check},
                   {"train", add_train},
                   {"tune", add_tune},
                   {"compare", add_compare},
                   {"evaluate", add_evaluate},
                   {"predict", add_predict},
                   {"embed", add_embed},
                   {"explain", add_explain},
                   {"neighbors", add_neighbors},
                   {"reproduce", add_reproduce},
                   {"bench", add_bench},
                   {"options", add_options}});
  return run_program(argc, argv, commands, {TORCH_VERSION, lase::join_processes});
}
