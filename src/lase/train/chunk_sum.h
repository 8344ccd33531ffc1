#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <functional>

#include "lase/base/part.h"

namespace lase {

// The chunks of a batch that this process computes, of `chunks`.
Part own_chunks(int64_t chunks);

// Σ vector(c) over all chunks of a batch, which the current processes compute. The order of the
// additions is a binary tree over the chunks,
//
//   Σ[a, b) = Σ[a, m) + Σ[m, b)        m = ⌊(a + b) / 2⌋
//
// so that the sum has the same bits for any number of processes. vector(c) is called for the own
// chunks, in order; it returns floats [size] on the CPU or, for a single process, on any device.
at::Tensor sum_over_chunks(int64_t chunks, int64_t size,
                           const std::function<at::Tensor(int64_t)>& vector);

}  // namespace lase
