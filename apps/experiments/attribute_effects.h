#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lase/inference/attribute_effects.h"

#include "experiments/document.h"

namespace lase {

// The effects of link attributes for a terminal, as a table of numbers, as JSON and as a chart.
// `nodes` says which nodes: "validation nodes".
std::string attribute_effects_text(const AttributeEffects& effects, const std::string& nodes);
TextTable attribute_effects_table(const AttributeEffects& effects);
nlohmann::json attribute_effects_json(const AttributeEffects& effects);
std::string attribute_effects_svg(const AttributeEffects& effects);

}  // namespace lase
