#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/array.h"

namespace lase {

// Strings concatenated in one byte array; string i is bytes[offset[i], offset[i+1]). An empty table
// has no offsets.
struct StringTable {
  Array<int64_t> offset;  // [n+1]
  Array<char> bytes;

  int64_t size() const { return offset.empty() ? 0 : offset.size() - 1; }
  std::string_view operator[](int64_t i) const {
    return {bytes.data() + offset[i], static_cast<size_t>(offset[i + 1] - offset[i])};
  }
};

class StringTableBuilder {
 public:
  void add(std::string_view text) {
    if (offset_.empty()) offset_.push_back(0);
    bytes_.append({text.data(), text.size()});
    offset_.push_back(bytes_.size());
  }
  int64_t size() const { return offset_.empty() ? 0 : offset_.size() - 1; }
  std::string_view operator[](int64_t i) const {
    return {bytes_.data() + offset_[i], static_cast<size_t>(offset_[i + 1] - offset_[i])};
  }
  StringTable finish() { return {offset_.freeze(), bytes_.freeze()}; }

 private:
  Buffer<int64_t> offset_;
  Buffer<char> bytes_;
};

// "prefix0", "prefix1", …
inline StringTable numbered_names(std::string_view prefix, int64_t count) {
  StringTableBuilder names;
  for (int64_t i = 0; i < count; ++i) names.add(std::string(prefix) + std::to_string(i));
  return names.finish();
}

template <class Strings>
StringTable make_string_table(const Strings& strings) {
  StringTableBuilder builder;
  for (const auto& text : strings) builder.add(text);
  return builder.finish();
}

}  // namespace lase
