#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lase/inference/objective.h"

#include "report/run_page.h"

// Parts of the report page that models of nodes and of links share, as the JSON that it reads.
namespace lase::page {

using nlohmann::json;

// Four significant digits keep the page small. Null unless the value is finite.
json rounded(double value);
json rounded(const std::vector<double>& values);
json names_of(const StringTable& names);

// ---- The run

struct Run {
  const Graph& graph;
  const TrainResult& result;  // with the scores to show
  const Objective& objective;
  const RunPageOptions& options;
  std::string seeds = "nodes";  // what the model predicts: nodes or links
};
// Title, facts, headline and configuration.
json head(const Run& run);
// Null if no curve is known.
json learning_curves(const Run& run);
void tell(const RunPageOptions& options, const std::string& step, double fraction);

// ---- Predictions for the seeds of one split

struct Evaluated {
  Split split = Split::kTest;
  std::vector<int64_t> seeds = {};
  at::Tensor outputs = {};  // [seeds, outputs], as Objective::score expects them
  Scores scores = {};
};

// Adds what is known for the task: scores per class, confusion matrix, reliability diagram, curves
// over thresholds, and predicted against actual numbers. `name` is the name of a seed.
void add_predictions(json& page, const Objective& objective, const Evaluated& evaluated,
                     const std::function<std::string(int64_t seed)>& name);
// Curves over all thresholds of one class: ROC, and precision against recall. Null unless there are
// positive and negative seeds.
json threshold_curves(const std::string& name, std::vector<Ranked> ranked);

// ---- The map of node embeddings

// All nodes, or a random sample of them if the graph is large, ascending.
std::vector<int64_t> nodes_on_map(const Graph& graph, const RunPageOptions& options);
// Names of these nodes and their places by t-SNE and PCA of their embeddings [all nodes, width].
json map_of(const Graph& graph, const std::vector<int64_t>& nodes, const at::Tensor& embedding,
            const RunPageOptions& options);

// ---- Pages

json node_page(const Graph& graph, const TrainResult& result, const RunPageOptions& options);
json link_page(const Graph& graph, const TrainResult& result, const RunPageOptions& options);

}  // namespace lase::page
