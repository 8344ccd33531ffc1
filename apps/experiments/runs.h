#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/base/error.h"

namespace lase {

// One run of an experiment. The key contains everything the result depends on; `work` is called on
// its own thread, where parallel_for is sequential.
struct Run {
  nlohmann::json key;
  std::string label;  // human-readable
  double cost = 1;    // approximate and relative; expensive runs start first
  std::function<nlohmann::json(const std::atomic<bool>* stop)> work;
};

struct RunProgress {
  int64_t done = 0;
  int64_t runs = 0;
  int64_t found = 0;    // runs that were cached
  double seconds = 0;   // since the start
  double left = 0;      // estimated remaining seconds; 0: unknown
  std::string label{};  // of the run that finished last
};

struct RunnerOptions {
  std::string folder;   // cache, one file per run; empty: no cache
  int64_t threads = 0;  // concurrent runs; 0: as many as parallel_for would use
  std::function<void(const RunProgress&)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

// The exception if runs were stopped early. `kept`: finished runs are cached.
inline Stopped stopped_runs(bool kept) {
  return Stopped(kept ? "stopped; run the same command again to continue"
                      : "stopped; no results were saved");
}

// Returns the results in the order of the runs; results cached under the same key are reused.
std::vector<nlohmann::json> run_all(std::vector<Run> runs, const RunnerOptions& options);

}  // namespace lase
