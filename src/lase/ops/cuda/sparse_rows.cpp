#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "lase/kernels/cuda/rows.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"

namespace lase::ops::cuda {

using at::Tensor;

// Waits for the device, which knows the number of stored values.
ThreeTensors sparse_rows(const Tensor& values, const Tensor& row_ptr, const Tensor& column,
                         const Tensor& rows) {
  LaunchScope scope(values);
  const int64_t n = rows.size(0);
  const Tensor row = rows.to(at::kLong).contiguous();
  const Tensor count = row_ptr.index_select(0, row + 1) - row_ptr.index_select(0, row);
  Tensor offsets = at::zeros({n + 1}, row_ptr.options());
  offsets.slice(0, 1).copy_(count.cumsum(0));
  const auto stored_count = offsets[n].item<int64_t>();
  Tensor columns = at::empty({stored_count}, row_ptr.options());
  Tensor stored = at::empty({stored_count}, values.options());
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "sparse_rows", [&] {
    const kernels::cuda::SparseRows<scalar_t> from{.row_ptr = row_ptr.data_ptr<int64_t>(),
                                                   .column = column.data_ptr<int32_t>(),
                                                   .value = values.data_ptr<scalar_t>()};
    kernels::cuda::copy_sparse_rows(from, row.data_ptr<int64_t>(), offsets.data_ptr<int64_t>(), n,
                                    columns.data_ptr<int64_t>(), stored.data_ptr<scalar_t>(),
                                    scope.launch());
  });
  return {offsets, columns, stored};
}

}  // namespace lase::ops::cuda
