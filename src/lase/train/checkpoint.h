#pragma once

#include <ATen/core/Tensor.h>
#include <nlohmann/json.hpp>
#include <string>

#include "lase/model/parameters.h"
#include "lase/train/stored_checkpoint.h"

namespace lase {

// Everything that a run needs to resume as if it had never stopped. Tensors are stored by parameter
// name ("weight.layer1.w1"), so that their order in the code does not matter.
struct Checkpoint {
  int64_t epoch = 0;  // completed epochs
  int64_t steps = 0;  // Adam steps
  NamedTensors weights = {};
  NamedTensors average = {};
  NamedTensors best = {};
  NamedTensors first = {};     // Adam's m
  NamedTensors second = {};    // Adam's v
  NamedTensors snapshot = {};  // weights at the last refresh; empty: the next batch refreshes
  Progress progress = {};
  // Of the run, to reject the checkpoint of another one.
  nlohmann::json options = nlohmann::json::object();
};

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path);

// `parameters` gives names and shapes. Throws Error if the file holds tensors of another model.
Checkpoint load_checkpoint(const std::string& path, const Parameters& parameters);

}  // namespace lase
