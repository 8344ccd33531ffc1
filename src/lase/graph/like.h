#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/base/string_table.h"
#include "lase/graph/graph.h"

namespace lase {

// What earlier data fixed and new data must follow: names and fitted numbers of a graph.
struct Like {
  StringTable attribute_names;
  StringTable feature_names;
  StringTable label_names;
  nlohmann::json recipe;

  // The list of numbers that the recipe has under `key`, or none. Throws Error where it is no such
  // list.
  std::vector<double> numbers(const std::string& key) const;
};

// What new data must follow so that a model of `graph` fits them.
Like like_of(const Graph& graph);

// Throws Error unless `graph`, not yet reduced, has the attributes and features that `earlier` had
// before its own reduction.
void require_like(const Graph& graph, const Graph& earlier);

}  // namespace lase
