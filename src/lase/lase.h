#pragma once

// Public headers of lase::lase: training and inference, on top of lase::graph.

#include "lase/distributed/join.h"         // IWYU pragma: export
#include "lase/graph.h"                    // IWYU pragma: export
#include "lase/inference/explain.h"        // IWYU pragma: export
#include "lase/inference/predict.h"        // IWYU pragma: export
#include "lase/inference/predict_links.h"  // IWYU pragma: export
#include "lase/model/model_file.h"         // IWYU pragma: export
#include "lase/train/trainer.h"            // IWYU pragma: export
