#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "lase/base/lase_file.h"
#include "lase/base/safetensors_header.h"

#include "harness.h"

// A model or checkpoint file. The first byte of the input selects its form: after 'f', the rest is
// a whole file; otherwise it is
//
//   {"epoch": 3, …}           the description
//   weight.head.w F32 3,2     one line per array
//                             an empty line, then the bytes of the arrays; missing ones are zero
//
// which is written with valid offsets and checksums, so that mutations reach the code behind them.
class StoredFile {
 public:
  explicit StoredFile(const lase::FileKind& kind)
      : kind_(kind), path_("/dev/shm/lase-fuzz-" + std::to_string(::getpid())) {}
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;
  ~StoredFile() { ::unlink(path_.c_str()); }

  // Writes the file and returns its path; throws lase::Error if the arrays cannot be written.
  std::string set(std::string_view input) {
    if (input.starts_with('f')) {
      whole_.set(input.substr(1));
      return whole_.path();
    }
    input.remove_prefix(std::min<size_t>(input.size(), 1));
    auto metadata = lase::file_metadata(kind_, {});
    metadata[std::string(kind_.name)] = take_until(input, '\n');
    lase::SafetensorsWriter writer(path_);
    std::vector<int64_t> sizes;
    for (auto line = take_until(input, '\n'); !line.empty(); line = take_until(input, '\n')) {
      const std::string name(take_until(line, ' '));
      const auto type = lase::dtype_from_name(std::string(take_until(line, ' ')));
      lase::require(type.has_value(), "unknown element type");
      const auto shape = shape_of(line);
      sizes.push_back(lase::byte_count(shape, *type));
      constexpr int64_t kMost = 1 << 14;  // bytes
      lase::require(sizes.back() >= 0 && sizes.back() <= kMost, "an array is too large");
      writer.declare(name, *type, shape);
    }
    writer.begin(metadata);
    for (size_t i = 0; i < sizes.size(); ++i) {
      std::string bytes(input.substr(0, static_cast<size_t>(sizes[i])));
      input.remove_prefix(bytes.size());
      bytes.resize(static_cast<size_t>(sizes[i]));
      writer.write_bytes(i, 0, std::as_bytes(std::span(bytes)));
    }
    writer.commit();
    return path_;
  }

 private:
  // "3,2"
  static std::vector<int64_t> shape_of(std::string_view text) {
    std::vector<int64_t> shape;
    while (!text.empty()) {
      const auto part = take_until(text, ',');
      std::from_chars(part.data(), part.data() + part.size(), shape.emplace_back());
    }
    return shape;
  }

  lase::FileKind kind_;
  MemoryFile whole_{"file"};
  std::string path_;
};
