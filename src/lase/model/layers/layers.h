#pragma once

#include "lase/model/layers/registry.h"

// The descriptions of the layers of this folder, one file each.
namespace lase {

LayerType gcn();
LayerType graphsage();
LayerType lase_concat();
LayerType lase_rw();
LayerType lase_sage();
LayerType lase_wl();
LayerType raw();

}  // namespace lase
