#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lase/inference/explain.h"
#include "lase/inference/explain_link.h"

namespace lase {

// `target`: for regression, the prediction in the units of the target.
std::string explanation_text(const Explanation& explanation, std::optional<double> target = {});
nlohmann::json explanation_json(const Explanation& explanation);
// An SVG with one panel per layer: the node in the center and its neighbors around it. Line width
// is proportional to the effect; blue supports the class, red opposes it.
std::string explanation_svg(const Explanation& explanation, std::optional<double> target = {});

// The same for a link: the inputs of the decoder as bars, then one row of panels for each end.
std::string explanation_text(const LinkExplanation& link, std::optional<double> target = {});
nlohmann::json explanation_json(const LinkExplanation& link);
std::string explanation_svg(const LinkExplanation& link, std::optional<double> target = {});

}  // namespace lase
