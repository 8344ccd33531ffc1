#pragma once

#include <string>
#include <vector>

// Throws Error where a file that is to be written is one that is read, or is to be written twice;
// empty names are no files.
void require_apart(const std::vector<std::string>& read, const std::vector<std::string>& written);
