#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lase/train/trainer.h"

#include "experiments/data.h"
#include "experiments/runs.h"

namespace lase {

struct ReproduceOptions {
  std::string data = "../shared/data";      // folder of the real data
  std::string out = "reproduced";           // folder for results and cached runs
  int64_t seeds = 0;                        // per configuration; 0: depends on the data set
  int64_t epochs = 0;                       // at most, per run; 0: depends on the data set
  std::vector<std::string> data_sets = {};  // empty: all
  bool quick = false;
  std::function<void(const std::string& text)> say = {};  // prints a status line
  std::function<void(const RunProgress& progress)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

// Computing budget for a data set.
struct Effort {
  int64_t seeds = 1;
  int64_t curve_seeds = 1;  // for experiments that compare learning curves
  int64_t trials = 1;       // configurations tried in the search
  int64_t epochs = 200;
  int64_t patience = 50;
  double cost = 1;  // relative cost of an epoch
};

// Runs experiments: opens each data set once and reuses cached runs.
class Lab {
 public:
  explicit Lab(const ReproduceOptions& options);

  // Null if the files are missing and there is no stand-in.
  const ExperimentData* data(const std::string& name);
  Effort effort(const std::string& name) const;
  // The given number of epochs, or the maximum of the options if that is smaller.
  int64_t limit_epochs(int64_t epochs) const {
    return options_.epochs > 0 ? std::min(epochs, options_.epochs) : epochs;
  }
  bool quick() const { return options_.quick; }
  const std::atomic<bool>* stop() const { return options_.stop; }
  void say(const std::string& text) const;

  // A run of `train` on a data set. Its result has val, test, epochs, seconds, and curve (the
  // validation score after each epoch).
  Run train_run(const ExperimentData& data, const TrainOptions& options, std::string label) const;
  // Other work with the same kind of result; `what` identifies everything it depends on besides the
  // data set and the options.
  using Work = std::function<TrainResult(TrainOptions options)>;
  Run run(const ExperimentData& data, const TrainOptions& options, const nlohmann::json& what,
          std::string label, Work work) const;

  std::vector<nlohmann::json> run_all(std::vector<Run> runs) const;
  RunnerOptions runner() const;

  // Writes a file to the output folder.
  void write(const std::string& name, const std::string& text) const;

 private:
  ReproduceOptions options_;
  std::map<std::string, std::optional<ExperimentData>> data_;
};

// Options of `lase train` for the paper's experiments: no projection, link dropout, learned
// features, common neighbors or known labels as inputs, and batches of 512, with the epochs and
// patience of the effort.
TrainOptions options_for(const std::string& model, const Effort& effort, uint64_t seed);
// The defaults of `lase train` without learned features, common neighbors and known labels as
// inputs, for data with informative links.
TrainOptions link_options(const ExperimentData& data, const Effort& effort, uint64_t seed);

}  // namespace lase
