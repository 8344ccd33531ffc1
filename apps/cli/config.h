#pragma once

#include <string>
#include <vector>

// Replaces `--config FILE` by flags for the options in the TOML file. Names may use underscores or
// dashes. Options that are also given on the command line are skipped: the command line wins.
std::vector<std::string> expand_config(std::vector<std::string> arguments);

// The file given by --config; empty: none.
std::string config_file(const std::vector<std::string>& arguments);
