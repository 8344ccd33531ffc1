#include "lase/ops/device_options.h"

namespace lase {

const OptionTable<DeviceOptions>& device_option_table() {
  static const auto table = [] {
    using O = DeviceOptions;
    OptionTable<O> all;
    all.add(
        "device", &O::device, one_of<DeviceChoice>(),
        "Device to compute on; auto = cuda if there is an NVIDIA GPU and the graph has at least "
        "100,000 links, otherwise cpu");
    all.add("precision", &O::precision, one_of<PrecisionChoice>(),
            "Precision of products: single precision (fp32), or factors rounded to 10 bits (tf32) "
            "or 7 bits (bf16), which is faster and requires a GPU; auto = fp32 on the CPU; on a "
            "GPU, bf16 for training and tf32 for predictions");
    all.add("device_memory", &O::memory, at_least(0),
            "Memory of the GPU for the graph, in GiB; what does not fit (first node features, then "
            "link attributes) stays in pinned memory of the CPU, from which the rows of each batch "
            "are copied; 0 = half of what is free");
    return all;
  }();
  return table;
}

}  // namespace lase
