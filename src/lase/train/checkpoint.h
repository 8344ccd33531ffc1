#pragma once

#include <ATen/core/Tensor.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lase {

// Everything that a run needs to go on as if it had never stopped.
struct Checkpoint {
  int64_t epoch = 0;  // epochs done
  int64_t steps = 0;  // of Adam
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> average;
  std::vector<at::Tensor> best;
  std::vector<at::Tensor> first;    // Adam's m
  std::vector<at::Tensor> second;   // and v
  std::vector<at::Tensor> renewed;  // weights of the last renewal; empty: the next batch renews
  nlohmann::json progress;          // curve, best score, learning rate
  nlohmann::json options;           // of the run, to refuse another one's checkpoint
};

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path);

// `like` gives the shapes. Throws Error where the file holds another model's tensors.
Checkpoint load_checkpoint(const std::string& path, const std::vector<at::Tensor>& like);

}  // namespace lase
