#pragma once

#include <ATen/core/Tensor.h>
#include <memory>
#include <span>

#include "lase/sampler/sampler.h"

namespace lase {

// Samples the batches of sample_batch() on the device that uses them, with the same random numbers:
// all devices give the same batches. Not for concurrent use.
class NeighborSampler {
 public:
  NeighborSampler() = default;
  NeighborSampler(const NeighborSampler&) = delete;
  NeighborSampler& operator=(const NeighborSampler&) = delete;
  virtual ~NeighborSampler() = default;

  // The tensors of the batch are on the device.
  virtual Batch sample(std::span<const int64_t> seeds, const Sampling& sampling,
                       const SampleKey& key, const HiddenArcs* hidden = nullptr) = 0;
};

// `graph` must outlive the sampler.
std::unique_ptr<NeighborSampler> make_sampler(const Adjacency& graph, const at::Device& device);

}  // namespace lase
