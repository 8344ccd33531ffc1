#pragma once

#include "lase/graph/graph.h"
#include "lase/ingest/format.h"

namespace lase {

// What new data must follow so that a model of `graph` fits them.
Like like_of(const Graph& graph);

// Throws Error unless `graph`, not yet reduced, has the attributes and features that `earlier` had
// before its own reduction.
void require_like(const Graph& graph, const Graph& earlier);

}  // namespace lase
