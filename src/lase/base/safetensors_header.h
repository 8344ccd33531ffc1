#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/dtype.h"

namespace lase {

// The JSON header of a safetensors file:
//
//   {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …,
//    "__metadata__": {"key": "text", …}}
struct SafetensorsHeader {
  struct Entry {
    DType type = {};
    std::vector<int64_t> shape;
    int64_t begin = 0;  // byte offsets into the data
    int64_t end = 0;
  };

  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> metadata;
};

inline constexpr std::string_view kMetadataKey = "__metadata__";
inline constexpr size_t kMostArrays = 100'000;

// Parses the header in one pass, in linear time. Throws Error unless it is well-formed, every shape
// matches its byte range, and names are unique. `path` is used in messages.
SafetensorsHeader parse_safetensors_header(std::string_view text, const std::string& path);

// The size in bytes of an array; −1 on overflow.
int64_t byte_count(const std::vector<int64_t>& shape, DType type);
// "[2, any]"; a negative size means any.
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace lase
