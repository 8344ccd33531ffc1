#pragma once

#include <cstdint>
#include <string>

namespace lase {

// The files in the folder of a partitioned graph.

std::string nodes_path(const std::string& folder);

// Parts of different partitions have different names, so that a partition can be replaced while it
// is read.
std::string part_path(const std::string& folder, const std::string& id, int64_t part);

}  // namespace lase
