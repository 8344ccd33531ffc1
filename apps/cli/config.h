#pragma once

#include <string>
#include <vector>

// Replaces `--config FILE` by the flags that the TOML file holds, in front of the others. A flag
// that stands on the command line too is left out, so that the command line wins.
std::vector<std::string> expand_config(std::vector<std::string> arguments);
