#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

// A data set of the experiments, ready for training.
struct ExperimentData {
  std::string name;           // dblp-authors
  std::string title;          // dblp, unreduced authors
  bool stand_in = false;      // synthetic, of the paper's size
  std::string recipe;         // the commands that produce it, human-readable
  std::string tag;            // changes with the recipe
  std::string like_nodes;     // data set that differs only in link attributes, or empty
  bool transductive = false;  // models are trained on all links
  Graph graph;

  // The title, marked with † for stand-ins.
  std::string marked_title() const { return stand_in ? title + "†" : title; }
};

inline constexpr const char* kStandInNote =
    "† synthetic stand-in of the paper's size, not the paper's data: its scores say nothing about "
    "the real data";

const std::vector<std::string>& experiment_data_names();
// Those with informative links, beyond the paper: email-bare, workplace-bare, icews14, amlsim20k,
// acm, dblp-hgb and imdb.
const std::vector<std::string>& link_data_names();

// Imports a data set from its files under `data`, or generates a stand-in if they are missing, and
// caches the graph in `cache`. Returns nothing if there are neither files nor a stand-in.
std::optional<ExperimentData> open_experiment_data(const std::string& name, const std::string& data,
                                                   const std::string& cache);

// Tables 2 and 3 of the paper.
struct PaperSizes {
  int64_t nodes = 0;
  int64_t links = 0;
  double degree = 0;
  int64_t labels = 0;
};
std::optional<PaperSizes> paper_sizes(const std::string& name);
std::optional<double> paper_score(const std::string& name, const std::string& model);

}  // namespace lase
