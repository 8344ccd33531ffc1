#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/array.h"
#include "lase/base/dtype.h"
#include "lase/base/file.h"

namespace lase {

using Metadata = std::map<std::string, std::string>;

// Safetensors: 8 bytes of header length (little-endian), a JSON header {name: {dtype, shape,
// data_offsets}, "__metadata__": {key: text}}, then the arrays without gaps. Arrays are read in
// place from the mapped file.
class SafetensorsFile {
 public:
  struct Tensor {
    DType type;
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes;

    int64_t count() const { return static_cast<int64_t>(bytes.size()) / dtype_size(type); }
  };

  // Throws Error unless every name, shape, offset and size in the header agrees with the file.
  static SafetensorsFile open(const std::string& path);
  // Whether the bytes start like a safetensors file.
  static bool is_safetensors(std::span<const std::byte> bytes);
  // The same for bytes in memory; `path` is used in messages, `owner` keeps the bytes alive.
  static SafetensorsFile parse(std::span<const std::byte> bytes, const std::string& path,
                               std::shared_ptr<const void> owner = nullptr);

  const std::string& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  bool has(const std::string& name) const { return tensors_.contains(name); }

  // Throws Error if the metadata or an array of at most `largest` bytes does not match its
  // checksum. Files of other programs have no checksums.
  void verify(int64_t largest = std::numeric_limits<int64_t>::max()) const;

  // Whether there is an array `name` with element type T.
  template <class T>
  bool holds(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found != tensors_.end() && found->second.type == kDTypeOf<T>;
  }

  // The array `name`, without a copy. Throws Error if it is missing or has another type or shape;
  // −1 in `shape` matches any size.
  template <class T>
  Array<T> get(const std::string& name, std::span<const int64_t> shape) const {
    const auto bytes = checked(name, kDTypeOf<T>, shape).bytes;
    return {{reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)}, owner_};
  }
  template <class T>
  Array<T> get(const std::string& name, std::initializer_list<int64_t> shape) const {
    return get<T>(name, std::span(shape.begin(), shape.size()));
  }

  const Tensor& checked(const std::string& name, DType type, std::span<const int64_t> shape) const;

 private:
  std::string path_;
  Metadata metadata_;
  std::map<std::string, Tensor> tensors_;
  std::shared_ptr<const void> owner_;
};

// Writes a safetensors file in two steps, so that arrays larger than memory can be streamed:
// declare every array, then call begin() to write the header and write the contents in any order.
//
//   SafetensorsWriter writer(path);
//   const auto row_ptr = writer.declare<int64_t>("row_ptr", {n + 1});
//   writer.begin(metadata);
//   writer.write(row_ptr, 0, values);
//   writer.commit();
class SafetensorsWriter {
 public:
  using Id = size_t;

  explicit SafetensorsWriter(std::string path) : file_(std::move(path)) {}

  template <class T>
  Id declare(std::string name, std::vector<int64_t> shape) {
    return declare(std::move(name), kDTypeOf<T>, std::move(shape));
  }
  Id declare(std::string name, DType type, std::vector<int64_t> shape);

  void begin(const Metadata& metadata);

  // Writes elements starting at `first`. Thread-safe.
  template <class T>
  void write(Id id, int64_t first, std::span<const T> values) {
    write_bytes(id, first * static_cast<int64_t>(sizeof(T)), std::as_bytes(values));
  }
  void write_bytes(Id id, int64_t offset, std::span<const std::byte> bytes);

  // Stores the checksum of every array in the header.
  void commit();

 private:
  struct Entry {
    std::string name;
    DType type;
    std::vector<int64_t> shape;
    int64_t size = 0;    // bytes
    int64_t offset = 0;  // relative to data_start_
  };
  // The header with padding, and the length before it.
  std::string header(const std::vector<std::string>& checksums) const;

  AtomicFile file_;
  Metadata metadata_;
  std::vector<Entry> entries_;
  int64_t data_start_ = 0;
};

}  // namespace lase
