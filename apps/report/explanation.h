#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lase/inference/explain.h"

namespace lase {

std::string explanation_text(const Explanation& explanation);
nlohmann::json explanation_json(const Explanation& explanation);
// A picture: for every layer the node in the middle, its neighbours around it; lines are as thick
// as the effect is large, blue where it speaks for the class and red where against.
std::string explanation_svg(const Explanation& explanation);

}  // namespace lase
