#include "lase/model/layers/layers.h"

namespace lase {

// No layer: the head reads f(u).
LayerType raw() { return {.name = "raw", .title = "node features alone", .normalizes = false}; }

}  // namespace lase
