#pragma once

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <initializer_list>
#include <optional>
#include <torch/version.h>
#include <tuple>

// The operators registered with torch: lase::gated_sum etc., on tensors and numbers only. Each
// device registers its kernels under the same names, so callers are device-independent. The schemas
// are in library.cpp.
namespace lase::ops {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
using MaybeTensor = std::optional<at::Tensor>;
#else
using MaybeTensor = c10::optional<at::Tensor>;
#endif
using TensorList = c10::List<MaybeTensor>;

inline MaybeTensor maybe(const at::Tensor& tensor) {
  return tensor.defined() ? MaybeTensor(tensor) : MaybeTensor();
}
inline at::Tensor tensor_of(const MaybeTensor& tensor) {
  return tensor.has_value() ? *tensor : at::Tensor();
}
inline TensorList list_of(std::initializer_list<at::Tensor> tensors) {
  TensorList list;
  list.reserve(tensors.size());
  for (const auto& tensor : tensors) list.push_back(maybe(tensor));
  return list;
}
inline at::Tensor tensor_at(const TensorList& list, size_t i) {
  return i < list.size() ? tensor_of(list.get(i)) : at::Tensor();
}

// Calling this makes the linker keep the registrations, also from a static library.
void register_all();

// Looks up an operator by name. Slow: store the result in a static variable.
template <class Signature>
c10::TypedOperatorHandle<Signature> operator_named(const char* name) {
  register_all();
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

// The arguments of gated_sum:
//   block       row_ptr, source, link, weight, scale, by_source, arc_target
//   attributes  values, row_ptr, column, code; with the layout and the number of columns
//   terms       h, h_row, u, u_shift, p, q, v, v_h
// Optional tensors may be undefined.
struct SumLists {
  TensorList block;
  int64_t layout = 0;
  int64_t columns = 0;
  TensorList attributes;
  int64_t amplifier = 0;
  bool links = false;
  TensorList terms;
};

using TwoTensors = std::tuple<at::Tensor, at::Tensor>;
using ThreeTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using SevenTensors =
    std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

}  // namespace lase::ops
