#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/session.h"

// Declares one verb with its flags.
using AddVerb = void (*)(CLI::App& app, Session& session);
using Verbs = std::map<std::string_view, AddVerb>;

// The verbs that need no torch.
Verbs graph_verbs();

// Whether the program has such a verb, in one of its executables.
bool is_verb(std::string_view name);
// Its line in `lase --help`.
std::string verb_summary(std::string_view name);

// Parses the command line, runs one of the verbs and returns the exit code. Errors end in one
// sentence on stderr. Verbs of the program that are not given are only listed.
int run_program(int argc, char** argv, const Verbs& verbs);
