#pragma once

#include "lase/model/layers/registry.h"

// The layer types of this folder, one per file.
namespace lase {

LayerType gcn();
LayerType graphsage();
LayerType lase_concat();
LayerType lase_layer();
LayerType lase_rw();
LayerType lase_sage();
LayerType lase_wl();
LayerType raw();

}  // namespace lase
