#pragma once

#include <memory>

#include "lase/sampler/neighbor_sampler.h"

namespace lase {

// See make_sampler(). Throws Error in builds without CUDA.
std::unique_ptr<NeighborSampler> make_cuda_sampler(const Adjacency& graph,
                                                   const at::Device& device);

}  // namespace lase
