#pragma once

#include <nlohmann/json.hpp>

#include "lase/base/safetensors.h"
#include "lase/embed/features.h"
#include "lase/graph/array_writer.h"

namespace lase {

// Adds the arrays of learned features to a model file and returns the rest of their description;
// null if there are none.
nlohmann::json add_learned(ArrayWriter& writer, const LearnedFeatures& learned);

// The inverse. Throws Error or nlohmann::json::exception if the description is damaged.
LearnedFeatures get_learned(const SafetensorsFile& file, const nlohmann::json& about);

}  // namespace lase
