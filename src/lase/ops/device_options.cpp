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
    all.add(
        "precision", &O::precision, one_of<Precision>(),
        "Precision of products on a GPU: single precision (fp32), or factors rounded to 10 bits "
        "(tf32), which is faster");
    return all;
  }();
  return table;
}

}  // namespace lase
