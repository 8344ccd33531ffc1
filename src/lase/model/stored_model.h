#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/safetensors.h"
#include "lase/model/description.h"
#include "lase/model/options.h"

namespace lase {

inline constexpr const char* kWeight = "weight.";  // prefix of the names of weights in a file

// A model file before its arrays become tensors. Does not depend on torch. All sizes and numbers
// are checked, except those of the weights: the layers know their shapes.
struct StoredModel : ModelDescription {
  SafetensorsFile file;
  ModelOptions options;
  ModelShape shape;
  NodeScaling node_scaling = NodeScaling::kStandard;
  Array<float> node_mean;               // [node features]
  Array<float> node_scale;              // [node features]
  Array<float> link_mean;               // [link attributes]
  Array<float> link_scale;              // [link attributes]
  Array<float> target_attribute_mean;   // [attributes of target links]
  Array<float> target_attribute_scale;  // [attributes of target links]
  bool has_targets = false;             // regression
  Array<float> target_mean;             // [outputs] with targets
  Array<float> target_scale;            // [outputs] with targets

  // Throws Error if the weight is missing, has another shape or is not finite.
  Array<float> weight(const std::string& name, const std::vector<int64_t>& size) const;
  int64_t weight_count() const;
};

StoredModel read_model(const std::string& path);

}  // namespace lase
