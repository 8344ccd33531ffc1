// Checks that the generator compiles as device code; it is not run.
#include "lase/base/random.h"

__global__ void fill(uint64_t seed, uint64_t n, uint64_t* bits, double* uniform, uint64_t* below) {
  const uint64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  lase::Random random(seed, i);
  bits[i] = random.bits();
  uniform[i] = random.uniform() + random.normal();
  below[i] = random.below(n) + random.split_below(n).rest;
}
