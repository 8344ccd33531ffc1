#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lase {

// One piece of an experiment. The key says all that its result depends on; `work` is called from a
// thread of its own, in which parallel_for works alone.
struct Run {
  nlohmann::json key;
  std::string label;  // for people
  double cost = 1;    // about, compared with others; the long ones come first
  std::function<nlohmann::json(const std::atomic<bool>* stop)> work;
};

struct RunProgress {
  int64_t done = 0;
  int64_t runs = 0;
  int64_t found = 0;    // of them in the folder from earlier
  double seconds = 0;   // since the start
  double left = 0;      // seconds, about; 0 at first
  std::string label{};  // of the run that ended last
};

struct RunnerOptions {
  std::string folder;   // results are kept here, a file each; empty: nowhere
  int64_t threads = 0;  // runs at once; 0: as many as parallel_for would use
  std::function<void(const RunProgress&)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

// Stopped before all was done; what was done may be kept in the folder.
class Stopped : public std::exception {
 public:
  explicit Stopped(bool kept = true) : kept_(kept) {}
  const char* what() const noexcept override {
    return kept_ ? "stopped; the same command goes on" : "stopped; nothing was kept";
  }

 private:
  bool kept_;
};

// The results, in the order of the runs. Those that are in the folder under the same key are taken
// from there.
std::vector<nlohmann::json> run_all(std::vector<Run> runs, const RunnerOptions& options);

struct MeanAndError {
  double mean = 0;
  double error = 0;  // standard error; 0 for a single value
  int64_t count = 0;
};
MeanAndError mean_and_error(const std::vector<double>& values);

}  // namespace lase
