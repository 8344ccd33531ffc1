#pragma once

#include <string>
#include <vector>

// Throws Error if an output file is also an input, or is written twice; empty names are ignored.
void require_distinct_files(const std::vector<std::string>& read,
                            const std::vector<std::string>& written);
