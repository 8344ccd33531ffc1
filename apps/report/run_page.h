#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/train/trainer.h"

namespace lase {

// The curve of a run, epoch by epoch.
struct CurvePoint {
  int64_t epoch = 0;
  double loss = 0;
  double val = 0;
  bool validated = false;
};

struct RunPageOptions {
  std::string title;    // what was trained on
  std::string command;  // how
  std::vector<CurvePoint> curve = {};
  nlohmann::json settings = nlohmann::json::object();
  int64_t most_nodes = 20'000;  // on the map
  uint64_t seed = 1;
  std::function<void(const std::string& what, double share)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

// All that the page shows, as the JSON that it reads.
nlohmann::json run_page_data(const Graph& graph, const TrainResult& result,
                             const RunPageOptions& options);

// The page with that in it: one HTML file that needs no network.
std::string run_page(const nlohmann::json& data);

}  // namespace lase
