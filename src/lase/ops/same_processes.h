#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lase::ops {

// Throws Error unless all current processes run the same lase and libtorch with the same
// instruction set and agree on this JSON object; otherwise, results would not have the same bits.
// `what` is, for example, "train together".
void require_same_processes(nlohmann::json about, const std::string& what);

}  // namespace lase::ops
