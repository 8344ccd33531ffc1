#include "lase/sampler/cuda/neighbor_sampler.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <map>
#include <vector>

#include "lase/kernels/cuda/sample.h"
#include "lase/ops/device.h"

namespace lase {
namespace {

using at::Tensor;
namespace cuda = kernels::cuda;

// Arrays of the graph on the device.
struct DeviceGraph {
  Tensor row_ptr, neighbor, link;

  DeviceGraph(const Adjacency& graph, const at::Device& device) {
    const auto copy = [&]<class T>(const Array<T>& values) {
      return at::from_blob(const_cast<T*>(values.data()), {values.size()},
                           c10::CppTypeToScalarType<T>::value)
          .to(device);
    };
    row_ptr = copy(graph.row_ptr);
    neighbor = copy(graph.neighbor);
    link = graph.link.visit(copy);
  }

  cuda::DeviceAdjacency view() const {
    const bool is_wide = link.scalar_type() == at::kLong;
    return {.nodes = row_ptr.size(0) - 1,
            .arcs = neighbor.size(0),
            .row_ptr = row_ptr.data_ptr<int64_t>(),
            .neighbor = neighbor.data_ptr<int32_t>(),
            .link = is_wide ? nullptr : link.data_ptr<int32_t>(),
            .wide_link = is_wide ? link.data_ptr<int64_t>() : nullptr};
  }
};

cuda::BlockArrays arrays_of(const Block& block) {
  const bool is_wide = block.link.scalar_type() == at::kLong;
  const bool is_ordered = block.by_source.defined();
  return {.target = block.target.data_ptr<int64_t>(),
          .row_ptr = block.row_ptr.data_ptr<int64_t>(),
          .source = block.source.data_ptr<int32_t>(),
          .link = is_wide ? nullptr : block.link.data_ptr<int32_t>(),
          .wide_link = is_wide ? block.link.data_ptr<int64_t>() : nullptr,
          .weight = block.weight.data_ptr<float>(),
          .degree = block.degree.data_ptr<float>(),
          .by_source = is_ordered ? block.by_source.data_ptr<int64_t>() : nullptr,
          .arc_target = is_ordered ? block.arc_target.data_ptr<int32_t>() : nullptr};
}

// Tensors for the arrays of a batch.
class TensorMemory : public cuda::BatchMemory {
 public:
  TensorMemory(size_t layers, at::ScalarType link, const at::Device& device)
      : link_(link), device_(device) {
    batch_.blocks.resize(layers);
  }

  cuda::BlockArrays block(int64_t layer, const cuda::BlockSize& bound, bool ordered) override {
    Block& block = batch_.blocks[static_cast<size_t>(layer)];
    block.target = empty(bound.targets, at::kLong);
    block.leading = true;
    block.row_ptr = empty(bound.targets + 1, at::kLong);
    block.source = empty(bound.arcs, at::kInt);
    block.link = empty(bound.arcs, link_);
    block.weight = empty(bound.arcs, at::kFloat);
    block.degree = empty(bound.sources, at::kFloat);
    if (ordered) {
      block.by_source = empty(bound.arcs, at::kLong);
      block.arc_target = empty(bound.arcs, at::kInt);
    }
    block.sources = bound.sources;
    return arrays_of(block);
  }
  int64_t* nodes(int64_t bound) override {
    batch_.nodes = empty(bound, at::kLong);
    return batch_.nodes.data_ptr<int64_t>();
  }

  // The batch with the sizes of its bounds.
  Batch finished_padded() { return std::move(batch_); }
  // The batch, given the exact sizes of its blocks.
  Batch finished(const std::vector<cuda::BlockSize>& sizes, int64_t seeds) {
    for (size_t l = 0; l < sizes.size(); ++l) {
      const auto& [targets, sources, arcs] = sizes[l];
      Block& block = batch_.blocks[l];
      block.sources = sources;
      shorten(block.target, targets);
      shorten(block.row_ptr, targets + 1);
      for (Tensor* x :
           {&block.source, &block.link, &block.weight, &block.by_source, &block.arc_target}) {
        shorten(*x, arcs);
      }
      shorten(block.degree, sources);
    }
    shorten(batch_.nodes, sizes.empty() ? seeds : sizes.front().sources);
    return std::move(batch_);
  }

 private:
  Tensor empty(int64_t n, at::ScalarType type) const {
    return at::empty({n}, at::TensorOptions(device_).dtype(type));
  }
  static void shorten(Tensor& x, int64_t n) {
    if (x.defined()) x = x.narrow(0, 0, n);
  }

  at::ScalarType link_;
  at::Device device_;
  Batch batch_;
};

// Gives the tensors of a batch that was finished before.
class SlotMemory : public cuda::BatchMemory {
 public:
  explicit SlotMemory(const Batch& batch) : batch_(batch) {}
  cuda::BlockArrays block(int64_t layer, const cuda::BlockSize&, bool) override {
    return arrays_of(batch_.blocks[static_cast<size_t>(layer)]);
  }
  int64_t* nodes(int64_t) override { return batch_.nodes.data_ptr<int64_t>(); }

 private:
  const Batch& batch_;
};

class CudaSampler : public NeighborSampler {
 public:
  CudaSampler(const Adjacency& graph, const at::Device& device)
      : host_(graph),
        device_(device),
        graph_(graph, device),
        stream_(c10::cuda::getStreamFromPool(false, device.index())),
        sampler_(graph_.view(), c10::cuda::getCurrentCUDAStream().stream()) {}

  Batch sample(std::span<const int64_t> seeds, const Sampling& sampling, const SampleKey& key,
               const HiddenArcs* hidden) override {
    const c10::DeviceGuard guard(device_);
    // Probabilities change with every refresh, after which the CPU computes them.
    if (!sampling.probabilities.empty()) {
      return sample_batch(host_, seeds, sampling, key, hidden).to(device_);
    }
    Tensor hidden_arcs;
    if (hidden != nullptr && !hidden->empty()) {
      hidden_arcs = ops::move(index_of(hidden->arcs()), device_);
    }
    const auto layers = layers_of(sampling);
    cuda::BatchSampling batch = batch_sampling(layers, sampling, key);
    batch.hidden = hidden_arcs.defined() ? hidden_arcs.data_ptr<int64_t>() : nullptr;
    batch.hidden_count = hidden_arcs.defined() ? hidden_arcs.size(0) : 0;
    TensorMemory memory(layers.size(), graph_.link.scalar_type(), device_);
    const auto sizes =
        sampler_.sample(seeds, batch, memory, c10::cuda::getCurrentCUDAStream().stream());
    return memory.finished(sizes, std::ssize(seeds));
  }

  BatchSlot* sample_into_slot(std::span<const int64_t> seeds, const Sampling& sampling,
                              const SampleKey& key) override {
    const c10::cuda::CUDAStreamGuard guard(stream_);
    const auto layers = layers_of(sampling);
    cuda::BatchSampling batch = batch_sampling(layers, sampling, key);
    const auto n = std::ssize(seeds);
    if (!sampling.probabilities.empty() || !sampler_.has_fixed_bounds(n, batch)) return nullptr;
    batch.pad = true;
    BatchSlot& slot = next_slot(n);
    slot.begin();
    std::vector<cuda::BlockSize> sizes;
    if (slot.batch.blocks.empty() && !layers.empty()) {
      TensorMemory memory(layers.size(), graph_.link.scalar_type(), device_);
      sizes = sampler_.sample(seeds, batch, memory, stream_.stream());
      slot.batch = memory.finished_padded();
    } else {
      SlotMemory memory(slot.batch);
      sizes = sampler_.sample(seeds, batch, memory, stream_.stream());
    }
    for (size_t l = 0; l < sizes.size(); ++l) {
      Block& block = slot.batch.blocks[l];
      block.padding = block.arcs() - sizes[l].arcs;
    }
    return &slot;
  }

 private:
  static std::vector<cuda::LayerSampling> layers_of(const Sampling& sampling) {
    std::vector<cuda::LayerSampling> layers;
    for (const int64_t fanout : sampling.fanouts) {
      layers.push_back({.fanout = fanout, .start = nullptr});
    }
    return layers;
  }

  static cuda::BatchSampling batch_sampling(const std::vector<cuda::LayerSampling>& layers,
                                            const Sampling& sampling, const SampleKey& key) {
    return {.layers = layers,
            .replace = sampling.replacement == Replacement::kWith,
            .link_dropout = sampling.link_dropout,
            .ordered_from = sampling.ordered_from,
            .sampled = Random(key.seed, kSampleStream, key.epoch, key.batch),
            .dropped = Random(key.seed, kDropStream, key.epoch, key.batch)};
  }

  // Batches of another size have slots of their own.
  BatchSlot& next_slot(int64_t seeds) {
    Ring& ring = rings_[seeds];
    if (std::ssize(ring.slots) < kSlots) {
      ring.slots.push_back(std::make_unique<BatchSlot>(slots_++, stream_.unwrap()));
      return *ring.slots.back();
    }
    return *ring.slots[static_cast<size_t>(ring.next++ % kSlots)];
  }

  struct Ring {
    std::vector<std::unique_ptr<BatchSlot>> slots;
    int64_t next = 0;
  };

  const Adjacency& host_;
  at::Device device_;
  DeviceGraph graph_;
  c10::cuda::CUDAStream stream_;  // of batches in slots
  std::map<int64_t, Ring> rings_;
  int64_t slots_ = 0;
  cuda::Sampler sampler_;
};

}  // namespace

std::unique_ptr<NeighborSampler> make_cuda_sampler(const Adjacency& graph,
                                                   const at::Device& device) {
  const c10::DeviceGuard guard(device);
  return std::make_unique<CudaSampler>(graph, device);
}

}  // namespace lase
