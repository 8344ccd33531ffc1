#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/base/string_table.h"
#include "lase/graph/graph.h"

namespace lase {

// Column names and fitted values of an earlier graph, which new data must follow.
struct Schema {
  StringTable attribute_names;
  StringTable feature_names;
  StringTable label_names;
  bool has_targets = false;      // links are prediction targets
  Task link_task = Task::kNone;  // of these
  StringTable link_label_names = {};
  bool separate_directions = false;
  nlohmann::json preprocessing;

  // The list of numbers under `key` in the preprocessing; empty if there is none. Throws Error if
  // it is not a list of numbers.
  std::vector<double> numbers(const std::string& key) const;
  // The text under `key` in the preprocessing; empty if there is none.
  std::string text(const std::string& key) const;
};

// The schema that new data must follow so that a model trained on `graph` fits them.
Schema schema_of(const Graph& graph);

// Throws Error unless `graph`, not yet reduced, has the attributes and features that `earlier` had
// before its reduction, and its link targets, if any, have the same attributes.
void require_schema(const Graph& graph, const Graph& earlier);

}  // namespace lase
