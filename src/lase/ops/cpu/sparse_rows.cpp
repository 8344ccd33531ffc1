#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <algorithm>

#include "lase/ops/cpu/cpu.h"

namespace lase::ops::cpu {

using at::Tensor;

ThreeTensors sparse_rows(const Tensor& values, const Tensor& row_ptr, const Tensor& column,
                         const Tensor& rows) {
  const int64_t n = rows.size(0);
  const Tensor wide = rows.to(at::kLong).contiguous();
  const auto* row = wide.data_ptr<int64_t>();
  const auto* start = row_ptr.data_ptr<int64_t>();
  Tensor offsets = at::empty({n + 1}, at::kLong);
  auto* offset = offsets.data_ptr<int64_t>();
  offset[0] = 0;
  for (int64_t i = 0; i < n; ++i) offset[i + 1] = offset[i] + start[row[i] + 1] - start[row[i]];
  Tensor columns = at::empty({offset[n]}, at::kLong);
  Tensor stored = at::empty({offset[n]}, values.options());
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "sparse_rows", [&] {
    const auto* from_column = column.data_ptr<int32_t>();
    const auto* from_value = values.data_ptr<scalar_t>();
    auto* to_column = columns.data_ptr<int64_t>();
    auto* to_value = stored.data_ptr<scalar_t>();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t first = start[row[i]];
      const int64_t last = start[row[i] + 1];
      std::copy(from_column + first, from_column + last, to_column + offset[i]);
      std::copy(from_value + first, from_value + last, to_value + offset[i]);
    }
  });
  return {offsets, columns, stored};
}

}  // namespace lase::ops::cpu
