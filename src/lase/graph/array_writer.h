#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lase/base/safetensors.h"
#include "lase/graph/graph.h"

namespace lase {

// Collects the arrays of a file that is in memory as a whole, then writes them all.
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

// What was added under that name; empty where nothing was. Throws Error where the offsets of the
// strings lead outside.
StringTable get_strings(const SafetensorsFile& file, const std::string& name);
// Without a look at every offset, for large tables that check_strings() sees later.
StringTable get_unchecked_strings(const SafetensorsFile& file, const std::string& name);
// Throws Error where a value is infinite, or NaN where that does not stand for an unknown one.
enum class Unknown : uint8_t { kRefused, kAllowed };
void check_finite(const Array<float>& values, const std::string& name, const std::string& path,
                  Unknown unknown = Unknown::kRefused);
void check_strings(const StringTable& table, const std::string& name, const std::string& path);
// The same for names of columns, of which there must be as many as columns.
StringTable get_column_names(const SafetensorsFile& file, const std::string& name, int64_t columns);
Reduction get_reduction(const SafetensorsFile& file, const std::string& name, int64_t kept);

}  // namespace lase
