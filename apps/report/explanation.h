#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lase/inference/explain.h"

namespace lase {

std::string explanation_text(const Explanation& explanation);
nlohmann::json explanation_json(const Explanation& explanation);
// An SVG with one panel per layer: the node in the center and its neighbors around it. Line width
// is proportional to the effect; blue supports the class, red opposes it.
std::string explanation_svg(const Explanation& explanation);

}  // namespace lase
