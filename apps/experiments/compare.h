#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/inference/metrics.h"
#include "lase/train/options.h"

#include "experiments/document.h"
#include "experiments/runs.h"
#include "experiments/statistics.h"

namespace lase {

struct CompareOptions {
  std::vector<std::string> models = {"lase", "sage", "graphsage"};
  std::vector<std::string> variants = {};  // see candidate_from
  int64_t splits = 0;                      // random splits; 0: the split of the graph
  std::string split = {};                  // their proportions; empty: those of the graph
  bool keep_test = false;                  // redraw only training and validation nodes
  int64_t seeds = 3;                       // training runs per split
  TrainOptions train = {};                 // of all candidates
};

// A model to compare: a name and its training options.
struct Candidate {
  std::string name;
  TrainOptions options;
};

// Parses "MODEL" or "MODEL: NAME=VALUE NAME=VALUE". Throws Error if a value is invalid, or an
// option has no effect on the model.
Candidate candidate_from(const std::string& text, const TrainOptions& base);

struct ComparedRun {
  int64_t split = 0;  // from 1; 0: the split of the graph
  uint64_t seed = 0;
  double val = 0;                              // the compared metric
  double test = 0;                             // the same
  std::map<std::string, double> metrics = {};  // all test metrics
  int64_t epochs = 0;
  bool diverged = false;
  double seconds = 0;
};

struct ComparedModel {
  Candidate candidate;
  std::vector<ComparedRun> runs = {};
  MeanAndError val = {};
  MeanAndError test = {};
  double seconds = 0;  // mean
  // test score of this model minus that of the first one
  PairedDifference to_first = {};
};

struct Comparison {
  Metric metric;
  int64_t splits = 0;
  int64_t seeds = 0;
  bool corrected = false;  // the tests are corrected for overlapping training sets
  std::vector<ComparedModel> models = {};

  nlohmann::json json() const;
  // `graph` is the name in the title.
  Document document(const std::string& graph) const;
};

// The graph with its own split, or with each of the random splits.
std::vector<Graph> compared_graphs(const Graph& graph, const CompareOptions& options);

// Trains all candidates on the same splits with the same seeds. Means and tests are over splits, of
// the mean over seeds; with a single split, over seeds. `identity` identifies the graph in the
// cache of runs.
Comparison compare(const Graph& graph, const std::string& identity, const CompareOptions& options,
                   const RunnerOptions& runner);

}  // namespace lase
