#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lase {

// Tensors by parameter name: weights, or optimizer state.
using NamedTensors = std::map<std::string, at::Tensor>;

// The parameters of a model by name, in the order in which its layers request them. Initial values
// are random numbers keyed by seed and name, so that they are the same on every machine, or come
// from a source such as a file.
class Parameters {
 public:
  // Returns the value of that name and shape; throws Error if there is none.
  using Source =
      std::function<at::Tensor(const std::string& name, const std::vector<int64_t>& shape)>;

  explicit Parameters(uint64_t seed) : seed_(seed) {}
  explicit Parameters(Source source) : source_(std::move(source)) {}

  // Glorot initialization: uniform within ±√(6 / (rows + columns)), times `gain`.
  at::Tensor matrix(const std::string& name, int64_t rows, int64_t columns, double gain = 1);
  at::Tensor constant(const std::string& name, int64_t size, double value);
  at::Tensor zeros(const std::string& name, int64_t size) { return constant(name, size, 0); }

  // The CPU if there are no parameters.
  at::Device device() const { return all_.empty() ? at::kCPU : all_.front().second.device(); }
  // Moves every parameter to a device in place: all holders of its tensor see the change.
  void to(const at::Device& device);

  const std::vector<std::pair<std::string, at::Tensor>>& all() const { return all_; }
  std::vector<std::pair<std::string, at::Tensor>>& all() { return all_; }

  // Copies and sets the values. set() requires a value for every parameter.
  NamedTensors copy() const;
  void set(const NamedTensors& values);

 private:
  at::Tensor add(const std::string& name, at::Tensor value);
  uint64_t seed_ = 0;
  Source source_;  // empty: random values from the seed
  std::vector<std::pair<std::string, at::Tensor>> all_;
};

}  // namespace lase
