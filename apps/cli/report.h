#pragma once

#include <cstdint>
#include <string>

#include "lase/graph/graph.h"
#include "lase/model/model_file.h"
#include "lase/train/trainer.h"

#include "cli/session.h"

struct Report {
  std::string path;        // HTML file to write
  std::string graph_path;  // its file name is the title
  std::string command;     // that reproduces the results
  uint64_t seed = 1;
  bool live = false;  // show progress on the terminal
};

// Writes the report of a run; if interrupted, says so and writes nothing.
void write_report(const Report& report, const lase::Graph& graph, const lase::TrainResult& result,
                  const Session& session);

// What is known about the run that trained a model.
lase::TrainResult run_of_model(const lase::TrainedModel& trained);
// The same with the scores of a model of nodes on this graph.
lase::TrainResult run_of_model(const lase::TrainedModel& trained, const lase::Graph& graph,
                               const at::Tensor& outputs);
