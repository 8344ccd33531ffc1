#pragma once

#include <cstdint>

#include "lase/base/error.h"
#include "lase/base/format.h"

namespace lase {

// Bytes that can be allocated without swapping or exceeding a limit of the process or its cgroup;
// the largest int64 if unknown.
int64_t available_memory();

// Throws Error if an allocation exceeds the available memory. (Linux grants such an allocation and
// kills the process later.) `what` is a plural; `advice` names an alternative.
template <class... Parts>
void require_memory(double bytes, const char* what, const Parts&... advice) {
  constexpr double kSmall = 64 << 20;  // not worth a check
  if (bytes < kSmall) return;
  const int64_t available = available_memory();
  require(bytes <= static_cast<double>(available), what, " need ",
          byte_size(static_cast<int64_t>(bytes < 9e18 ? bytes : 9e18)), " of memory, but only ",
          byte_size(available), " are available; ", advice...);
}

}  // namespace lase
