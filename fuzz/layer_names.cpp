// The names of the layer types, whose code depends on torch; see model/layers/registry.cpp.
#include "lase/model/options.h"

std::vector<std::string> lase::layer_names() {
  return {"lase", "sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"};
}
