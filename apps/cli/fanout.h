#pragma once

#include <cstdint>
#include <string>
#include <vector>

// "10,10" or "all" as numbers; whole neighbourhoods are lase::kWholeNeighborhood.
std::vector<int64_t> parse_fanout(const std::string& text);
