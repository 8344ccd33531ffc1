#pragma once

#include <string>
#include <string_view>
#include <vector>

// "; did you mean X?" for the candidate X that is most similar to a misspelled word; empty if none
// is similar.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);
