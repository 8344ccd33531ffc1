#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <functional>

#include "lase/base/part.h"

namespace lase {

// The chunks of a batch that this process computes, of `chunks`.
Part own_chunks(int64_t chunks);

// Computes the vector of a chunk: floats [size], on the CPU or, for a single process, on any
// device.
using ChunkTask = std::function<at::Tensor()>;

// Σ vector(c) over all chunks of a batch, which the current processes compute. The order of the
// additions is a binary tree over the chunks,
//
//   Σ[a, b) = Σ[a, m) + Σ[m, b)        m = ⌊(a + b) / 2⌋
//
// so that the sum has the same bits for any number of processes and threads. take(c) is called for
// the own chunks in order, by one thread at a time. If `concurrent`, the tasks that it returns run
// on several threads at once: the small operations of a chunk would not keep all threads busy.
at::Tensor sum_over_chunks(int64_t chunks, int64_t size,
                           const std::function<ChunkTask(int64_t)>& take, bool concurrent);

}  // namespace lase
