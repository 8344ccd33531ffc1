#pragma once

// Public headers of lase::graph: graphs, import and export, node embeddings. No torch.

#include "lase/base/error.h"         // IWYU pragma: export
#include "lase/base/parallel.h"      // IWYU pragma: export
#include "lase/embed/embed.h"        // IWYU pragma: export
#include "lase/graph/build.h"        // IWYU pragma: export
#include "lase/graph/generate.h"     // IWYU pragma: export
#include "lase/graph/graph.h"        // IWYU pragma: export
#include "lase/graph/graph_parts.h"  // IWYU pragma: export
#include "lase/graph/partition.h"    // IWYU pragma: export
#include "lase/graph/pca.h"          // IWYU pragma: export
#include "lase/graph/write_rows.h"   // IWYU pragma: export
#include "lase/ingest/export.h"      // IWYU pragma: export
#include "lase/ingest/import.h"      // IWYU pragma: export
