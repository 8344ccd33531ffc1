#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lase {

// Tensors by the name of a parameter: weights, or what an optimizer keeps for each of them.
using NamedTensors = std::map<std::string, at::Tensor>;

// The parameters of a model by name, in the order in which its parts ask for them. Initial values
// are random numbers keyed by the seed and the name, so that they are the same on every machine, or
// come from a source such as a file.
class Parameters {
 public:
  // The value of that name and shape; throws Error where it has none.
  using Source =
      std::function<at::Tensor(const std::string& name, const std::vector<int64_t>& shape)>;

  explicit Parameters(uint64_t seed) : seed_(seed) {}
  explicit Parameters(Source source) : source_(std::move(source)) {}

  // Uniform within ±√(6 / (rows + columns)) (Glorot and Bengio).
  at::Tensor matrix(const std::string& name, int64_t rows, int64_t columns);
  at::Tensor zeros(const std::string& name, int64_t size);

  // Moves every parameter to a device, in place: who holds one of the tensors sees it there.
  void to(const at::Device& device);

  const std::vector<std::pair<std::string, at::Tensor>>& all() const { return all_; }
  std::vector<std::pair<std::string, at::Tensor>>& all() { return all_; }

  // The values as they are, and back. Every parameter must be among those that are set.
  NamedTensors copy() const;
  void set(const NamedTensors& values);

 private:
  at::Tensor add(const std::string& name, at::Tensor value);
  uint64_t seed_ = 0;
  Source source_;  // empty: by the seed
  std::vector<std::pair<std::string, at::Tensor>> all_;
};

}  // namespace lase
