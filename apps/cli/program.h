#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/session.h"

// Adds one command and its flags.
using AddCommand = void (*)(CLI::App& app, Session& session);
using Commands = std::map<std::string_view, AddCommand>;

// The commands that do not need torch.
Commands graph_commands();

// True for the commands of both executables.
bool is_command(std::string_view name);
// The summary of a command in `lase --help`.
std::string command_summary(std::string_view name);

// What the program has if it is built with torch.
struct TorchParts {
  std::string version;  // printed by --version
  JoinProcesses join = nullptr;
};

// Parses the command line, runs one of `commands` and returns the exit code; an error is printed to
// stderr as one sentence. Other commands are only listed in the help.
int run_program(int argc, char** argv, const Commands& commands, const TorchParts& torch = {});
