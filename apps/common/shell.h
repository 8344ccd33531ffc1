#pragma once

#include <string>
#include <vector>

// A command line for the shell; words are quoted if necessary.
std::string shell_line(const std::vector<std::string>& words);
