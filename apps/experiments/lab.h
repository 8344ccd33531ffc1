#pragma once

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
  std::string data;   // folder of the real data
  std::string out;    // folder for results, and for what a later call goes on from
  int64_t seeds = 0;  // of every set-up; 0: as many as each data set is given
  bool quick = false;
  std::function<void(const std::string& text)> say;  // a line for people
  std::function<void(const RunProgress& progress)> progress;
  const std::atomic<bool>* stop = nullptr;
};

// What a data set is given: seeds, set-ups tried in the search, epochs.
struct Effort {
  int64_t seeds = 1;
  int64_t curve_seeds = 1;  // where whole curves are compared
  int64_t trials = 1;
  int64_t epochs = 200;
  int64_t patience = 50;
  double cost = 1;  // of an epoch, compared with others
};

// Where experiments are made: opens data sets once, runs what was not run before.
class Lab {
 public:
  explicit Lab(const ReproduceOptions& options);

  // Null where the files are missing and there is no stand-in.
  const ExperimentData* data(const std::string& name);
  Effort effort(const std::string& name) const;
  bool quick() const { return options_.quick; }
  const std::atomic<bool>* stop() const { return options_.stop; }
  void say(const std::string& text) const;

  // A run of `train` on a data set. Its result has val, test, epochs, seconds, and curve (the
  // validation score after every epoch).
  Run train_run(const ExperimentData& data, const TrainOptions& options, std::string label) const;
  // Other work on a data set with the same kind of result; `what` says all that it depends on
  // besides the options.
  using Work = std::function<TrainResult(TrainOptions options)>;
  Run run(const ExperimentData& data, const TrainOptions& options, const nlohmann::json& what,
          std::string label, Work work) const;

  std::vector<nlohmann::json> run_all(std::vector<Run> runs) const;

  // Files of an experiment, beside each other: NAME.md, NAME.csv, NAME.svg.
  void write(const std::string& name, const std::string& text) const;

 private:
  ReproduceOptions options_;
  std::map<std::string, std::optional<ExperimentData>> data_;
};

// Defaults of `lase train` for a model, with the epochs of the effort.
TrainOptions options_for(const std::string& model, const Effort& effort, uint64_t seed);

}  // namespace lase
