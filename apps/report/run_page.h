#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/train/trainer.h"

namespace lase {

// One epoch of the learning curves.
struct CurvePoint {
  int64_t epoch = 0;
  double loss = 0;
  double val = 0;
  bool validated = false;
};

struct RunPageOptions {
  std::string title;    // name of the data
  std::string command;  // command line of the run
  std::vector<CurvePoint> curve = {};
  nlohmann::json settings = nlohmann::json::object();
  int64_t most_nodes = 20'000;  // at most, on the map
  uint64_t seed = 1;
  std::function<void(const std::string& step, double fraction)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

// The data of the page, as the JSON it reads. Incomplete or null if stopped.
nlohmann::json run_page_data(const Graph& graph, const TrainResult& result,
                             const RunPageOptions& options);

// The page as one self-contained HTML file that needs no network.
std::string run_page(const nlohmann::json& data);

}  // namespace lase
