#include "lase/ops/sigmoid.h"

#include <ATen/ATen.h>

namespace lase::ops {

at::Tensor sigmoid(const at::Tensor& x) {
  constexpr int64_t kEntries = 64;  // torch computes at most 32 floats at a time
  const int64_t rest = x.numel() % kEntries;
  if (rest == 0 || !x.is_cpu()) return x.sigmoid();
  const at::Tensor padded = at::constant_pad_nd(x.reshape(-1), {0, kEntries - rest});
  return padded.sigmoid().narrow(0, 0, x.numel()).view(x.sizes());
}

}  // namespace lase::ops
