#pragma once

#include <cstdint>
#include <string>

#include "lase/base/array.h"
#include "lase/base/attributes.h"
#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/graph/labels.h"

namespace lase {

// Each reads a whole array and throws Error for the first value that is wrong. `name` and `path`
// are for the message.

// Values in [low, end).
template <class T>
void check_range(const Array<T>& values, int64_t low, int64_t end, const std::string& name,
                 const std::string& path) {
  constexpr int64_t kValues = 1 << 16;
  parallel_for(values.size(), kValues, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      require(values[i] >= low && values[i] < end, path, ": ", name, "[", i, "] is ", values[i],
              ", expected ", low, " to ", end - 1);
    }
  });
}

// Values that are not negative and do not decrease.
void check_ascending(const Array<int64_t>& row_ptr, const std::string& name,
                     const std::string& path);
void check_attributes(const Attributes& matrix, const std::string& name, const std::string& path);
// Values of Split from `least`.
void check_split(const Array<uint8_t>& split, Split least, const std::string& name,
                 const std::string& path);
// The labels of nodes.
void check_labels(const Labels& labels, const std::string& path);

}  // namespace lase
