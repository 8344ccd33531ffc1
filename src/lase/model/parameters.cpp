#include "lase/model/parameters.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/memory.h"
#include "lase/base/random.h"

namespace lase {

using at::Tensor;

Tensor Parameters::matrix(const std::string& name, int64_t rows, int64_t columns, double gain) {
  if (source_) return add(name, source_(name, {rows, columns}));
  constexpr double kCopies = 4;  // the weights, their gradient and two moments of Adam
  require_memory(kCopies * static_cast<double>(rows * columns) * sizeof(float), "the weights",
                 "choose smaller ", OptionName{"widths"});
  Tensor value = at::empty({rows, columns}, at::kFloat);
  const double bound = gain * std::sqrt(6.0 / static_cast<double>(rows + columns));
  uint64_t key = 0;
  for (const char c : name) key = mix(key ^ static_cast<unsigned char>(c));
  Random random(seed_, key);
  auto* data = value.data_ptr<float>();
  for (int64_t i = 0; i < rows * columns; ++i) {
    data[i] = static_cast<float>(bound * (2 * random.uniform() - 1));
  }
  return add(name, value);
}

Tensor Parameters::constant(const std::string& name, int64_t size, double value) {
  return add(name, source_ ? source_(name, {size}) : at::full({size}, value, at::kFloat));
}

void Parameters::to(const at::Device& device) {
  for (auto& [name, value] : all_) {
    if (value.device() != device) value.set_data(value.detach().to(device));
  }
}

Tensor Parameters::add(const std::string& name, Tensor value) {
  value.requires_grad_(true);
  all_.emplace_back(name, value);
  return value;
}

NamedTensors Parameters::copy() const {
  NamedTensors values;
  for (const auto& [name, value] : all_) values.emplace(name, value.detach().clone());
  return values;
}

void Parameters::set(const NamedTensors& values) {
  c10::NoGradGuard no_grad;
  for (auto& [name, value] : all_) {
    const auto found = values.find(name);
    require(found != values.end(), "there is no value for the parameter ", quote(name));
    value.copy_(found->second);
  }
}

}  // namespace lase
