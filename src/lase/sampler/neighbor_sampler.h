#pragma once

#include <ATen/core/Tensor.h>
#include <memory>
#include <span>

#include "lase/sampler/batch_slot.h"
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

  // Samples a batch into a slot, whose end() the caller must call. Slots are used in turn: a batch
  // must be released before kSlots others are sampled. Null if the sampler has no slots, or if the
  // sizes of batches vary too much.
  static constexpr int64_t kSlots = 4;
  virtual BatchSlot* sample_into_slot(std::span<const int64_t> /*seeds*/,
                                      const Sampling& /*sampling*/, const SampleKey& /*key*/) {
    return nullptr;
  }
};

// `graph` must outlive the sampler.
std::unique_ptr<NeighborSampler> make_sampler(const Adjacency& graph, const at::Device& device);

}  // namespace lase
