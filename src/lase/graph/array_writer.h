#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lase/base/safetensors.h"
#include "lase/graph/graph.h"

namespace lase {

// Collects in-memory arrays, then writes them to one safetensors file.
class ArrayWriter {
 public:
  explicit ArrayWriter(const std::string& path) : writer_(path) {}

  template <class T>
  void add(const std::string& name, const Array<T>& values, std::vector<int64_t> shape) {
    const auto id = writer_.declare<T>(name, std::move(shape));
    pending_.emplace_back([this, id, values] { writer_.write(id, 0, values.span()); });
  }
  void add(const std::string& name, const StringTable& table);
  void add(const std::string& name, const Attributes& matrix);
  void add(const std::string& name, const Reduction& reduction);

  void finish(const std::map<std::string, std::string>& metadata);

 private:
  SafetensorsWriter writer_;
  std::vector<std::function<void()>> pending_;
};

// Reads the string table stored under `name`; empty if there is none. Throws Error if an offset is
// out of range.
StringTable get_strings(const SafetensorsFile& file, const std::string& name);
// The same without checking every offset, for large tables that check_strings() checks later.
StringTable get_unchecked_strings(const SafetensorsFile& file, const std::string& name);
// Throws Error if a value is infinite, or NaN unless NaN stands for an unknown value.
enum class Unknown : uint8_t { kRejected, kAllowed };
void check_finite(const Array<float>& values, const std::string& name, const std::string& path,
                  Unknown unknown = Unknown::kRejected);
void check_strings(const StringTable& table, const std::string& name, const std::string& path);
// Reads column names; throws Error unless there is one per column.
StringTable get_column_names(const SafetensorsFile& file, const std::string& name, int64_t columns);
Reduction get_reduction(const SafetensorsFile& file, const std::string& name, int64_t kept);

}  // namespace lase
