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

// Parses the command line, runs one of `commands` and returns the exit code; an error is printed to
// stderr as one sentence. Other commands are only listed in the help. `torch_version` is printed by
// --version unless it is empty.
int run_program(int argc, char** argv, const Commands& commands,
                const std::string& torch_version = "");
