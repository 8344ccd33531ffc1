#include "lase/base/error.h"
#include "lase/sampler/cuda/neighbor_sampler.h"

namespace lase {

std::unique_ptr<NeighborSampler> make_cuda_sampler(const Adjacency&, const at::Device&) {
  fail("this build of lase has no GPU support");
}

}  // namespace lase
