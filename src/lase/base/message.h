#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "lase/base/error.h"

namespace lase {

// A sequence of arrays, each stored as its length and its elements, for processes on machines with
// the same byte order.
using Message = std::vector<std::byte>;

template <class T>
void append(Message& message, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  const int64_t size = std::ssize(values);
  const auto* length = reinterpret_cast<const std::byte*>(&size);
  message.insert(message.end(), length, length + sizeof size);
  const auto bytes = std::as_bytes(values);
  message.insert(message.end(), bytes.begin(), bytes.end());
}

template <class T>
void append(Message& message, const std::vector<T>& values) {
  append(message, std::span<const T>(values));
}

// Reads the arrays of a message in their order.
class MessageReader {
 public:
  explicit MessageReader(const Message& message) : left_(message) {}

  template <class T>
  std::vector<T> next() {
    int64_t size = 0;
    copy(&size, sizeof size);
    require(size >= 0 && static_cast<size_t>(size) <= left_.size() / sizeof(T),
            "a message from another process is truncated within an array");
    std::vector<T> values(static_cast<size_t>(size));
    copy(values.data(), values.size() * sizeof(T));
    return values;
  }

 private:
  void copy(void* to, size_t bytes) {
    require(bytes <= left_.size(), "a message from another process is truncated");
    if (bytes > 0) std::memcpy(to, left_.data(), bytes);
    left_ = left_.subspan(bytes);
  }

  std::span<const std::byte> left_;
};

}  // namespace lase
