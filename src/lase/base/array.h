#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace lase {

// An immutable array that is cheap to copy: a span and the owner that keeps it alive, such as a
// vector or a mapped file.
template <class T>
class Array {
 public:
  Array() = default;

  Array(std::span<const T> values, std::shared_ptr<const void> owner)
      : values_(values), owner_(std::move(owner)) {}

  Array(std::vector<T> values) {  // NOLINT(google-explicit-constructor): a vector is an array
    auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    values_ = *owner;
    owner_ = std::move(owner);
  }

  const T& operator[](int64_t i) const { return values_[static_cast<size_t>(i)]; }
  const T* data() const { return values_.data(); }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::span<const T> span() const { return values_; }
  std::span<const T> slice(int64_t first, int64_t last) const {
    return values_.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
  }

 private:
  std::span<const T> values_;
  std::shared_ptr<const void> owner_;
};

// A growable array of trivially copyable values. Unlike std::vector, it grows with realloc(), which
// extends large arrays without holding two copies, and leaves new elements uninitialized.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  operator std::span<const T>() const {  // NOLINT(google-explicit-constructor)
    return {data_, static_cast<size_t>(size_)};
  }

  void resize(int64_t size) {
    if (size > capacity_) grow(std::max(size, capacity_ + capacity_ / 2));
    size_ = size;
  }

  void push_back(const T& value) {
    const T copy = value;
    resize(size_ + 1);
    data_[size_ - 1] = copy;
  }

  void append(std::span<const T> values) {
    const int64_t old_size = size_;
    resize(old_size + static_cast<int64_t>(values.size()));
    std::copy(values.begin(), values.end(), data_ + old_size);
  }

  // Moves the storage into an array; the buffer is empty afterwards.
  Array<T> freeze() {
    auto owner = std::make_shared<const Buffer>(std::move(*this));
    return Array<T>(*owner, owner);
  }

 private:
  void swap(Buffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  void grow(int64_t capacity) {
    auto* data = static_cast<T*>(std::realloc(data_, static_cast<size_t>(capacity) * sizeof(T)));
    if (data == nullptr) throw std::bad_alloc();
    data_ = data;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

}  // namespace lase
