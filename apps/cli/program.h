#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/session.h"

// Adds one verb and its flags.
using AddVerb = void (*)(CLI::App& app, Session& session);
using Verbs = std::map<std::string_view, AddVerb>;

// The verbs that do not need torch.
Verbs graph_verbs();

// True for the verbs of both executables.
bool is_verb(std::string_view name);
// The summary of a verb in `lase --help`.
std::string verb_summary(std::string_view name);

// Parses the command line, runs one of `verbs` and returns the exit code; an error is printed to
// stderr as one sentence. Other verbs are only listed in the help. `torch_version` is printed by
// --version unless it is empty.
int run_program(int argc, char** argv, const Verbs& verbs, const std::string& torch_version = "");
