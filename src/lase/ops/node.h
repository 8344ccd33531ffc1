#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>
#include <memory>
#include <torch/csrc/autograd/function.h>
#include <type_traits>
#include <utility>

namespace lase::ops {

// A pointer to a node of the autograd graph: shared_ptr<Node>, or intrusive_ptr<Node> in later
// versions of torch.
using NodePointer = std::remove_cvref_t<decltype(std::declval<const at::Tensor&>().grad_fn())>;

// A new node, for torch::autograd::set_history.
template <class T>
auto make_node() {
  if constexpr (std::is_same_v<NodePointer, std::shared_ptr<torch::autograd::Node>>) {
    return std::make_shared<T>();
  } else {
    return c10::make_intrusive<T>();
  }
}

// The node as a T, or null if it is another type of node.
template <class T>
std::shared_ptr<T> node_as(const NodePointer& node) {
  auto* pointer = dynamic_cast<T*>(node.get());
  if (pointer == nullptr) return nullptr;
  return {std::make_shared<NodePointer>(node), pointer};
}

}  // namespace lase::ops
