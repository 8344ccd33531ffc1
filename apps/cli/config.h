#pragma once

#include <string>
#include <vector>

// Replaces `--config FILE` by the flags for the options that the TOML file holds, in front of the
// others; names have underscores or dashes. An option that stands on the command line too is left
// out, so that the command line wins.
std::vector<std::string> expand_config(std::vector<std::string> arguments);
