#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

// A data set of the experiments, ready to be trained on.
struct ExperimentData {
  std::string name;        // dblp-authors
  std::string title;       // dblp, authors unreduced
  bool stand_in = false;   // made up, of the paper's size
  std::string recipe;      // how it was made, for people
  std::string tag;         // changes with the recipe
  std::string like_nodes;  // the data set that differs in link attributes alone, or empty
  Graph graph;

  // With the mark that every number of a stand-in carries.
  std::string marked_title() const { return stand_in ? title + "†" : title; }
};

inline constexpr const char* kStandInNote =
    "† a stand-in made up to the paper's size, not the paper's data: its numbers say nothing about "
    "the real ones";

// reddit, dblp, dblp-authors, dblp-counts, email, email-line, fmobile, workplace.
const std::vector<std::string>& experiment_data_names();

// Reads the files of a data set from `data`, where they are in folders as in the tests' data, or
// makes a stand-in where they are not; keeps the graph in `cache`. Nothing where there is neither.
std::optional<ExperimentData> open_experiment_data(const std::string& name, const std::string& data,
                                                   const std::string& cache);

// Table 2 and table 3 of the paper.
struct PaperSizes {
  int64_t nodes = 0;
  int64_t links = 0;
  double degree = 0;
  int64_t labels = 0;
};
std::optional<PaperSizes> paper_sizes(const std::string& name);
std::optional<double> paper_score(const std::string& name, const std::string& model);

}  // namespace lase
