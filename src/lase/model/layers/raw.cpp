#include "lase/model/layers/layers.h"

namespace lase {

// No layers: the head reads f(u).
LayerType raw() {
  return {.name = "raw",
          .title = "node features only",
          .normalizes = false,
          .unused = {"widths", "combine", "amplifier", "aggregate", "gate", "depth", "normalize"}};
}

}  // namespace lase
