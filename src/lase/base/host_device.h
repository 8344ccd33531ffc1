#pragma once

// Functions that also run on the GPU.
#if defined(__CUDACC__)
#define LASE_HD __host__ __device__
#else
#define LASE_HD
#endif
