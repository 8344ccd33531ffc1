#pragma once

#include <string>
#include <vector>

// Throws Error if an output file is also an input, or a file of an input that is a partitioned
// graph, or is written twice; empty names are ignored.
void require_distinct_files(const std::vector<std::string>& read,
                            const std::vector<std::string>& written);

// Throws Error if an input file is in the folder that a command writes to.
void require_outside(const std::string& file, const std::string& folder);
