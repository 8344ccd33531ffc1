#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lase {

// The parameters of a model by name, in the order in which its parts ask for them. Starting values
// are drawn from the seed and the name, so that they are the same on every machine.
class Parameters {
 public:
  explicit Parameters(uint64_t seed) : seed_(seed) {}

  // Uniform within ±√(6 / (rows + columns)) (Glorot and Bengio).
  at::Tensor matrix(const std::string& name, int64_t rows, int64_t columns);
  at::Tensor zeros(const std::string& name, int64_t size);

  const std::vector<std::pair<std::string, at::Tensor>>& all() const { return all_; }
  std::vector<std::pair<std::string, at::Tensor>>& all() { return all_; }

 private:
  at::Tensor add(const std::string& name, at::Tensor value);
  uint64_t seed_;
  std::vector<std::pair<std::string, at::Tensor>> all_;
};

}  // namespace lase
