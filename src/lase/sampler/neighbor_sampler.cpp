#include "lase/sampler/neighbor_sampler.h"

#include "lase/sampler/cuda/neighbor_sampler.h"

namespace lase {
namespace {

class CpuSampler : public NeighborSampler {
 public:
  explicit CpuSampler(const Adjacency& graph) : graph_(graph) {}
  Batch sample(std::span<const int64_t> seeds, const Sampling& sampling, const SampleKey& key,
               const HiddenArcs* hidden) override {
    return sample_batch(graph_, seeds, sampling, key, hidden);
  }

 private:
  const Adjacency& graph_;
};

}  // namespace

std::unique_ptr<NeighborSampler> make_sampler(const Adjacency& graph, const at::Device& device) {
  if (device.is_cpu()) return std::make_unique<CpuSampler>(graph);
  return make_cuda_sampler(graph, device);
}

}  // namespace lase
