#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lase/inference/explain.h"

namespace lase {

// `target`: for regression, the prediction in the units of the target.
std::string explanation_text(const Explanation& explanation, std::optional<double> target = {});
nlohmann::json explanation_json(const Explanation& explanation);
// An SVG with one panel per layer: the node in the center and its neighbors around it. Line width
// is proportional to the effect; blue supports the class, red opposes it.
std::string explanation_svg(const Explanation& explanation, std::optional<double> target = {});

}  // namespace lase
