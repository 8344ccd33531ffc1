#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lase/base/process_group.h"
#include "lase/sampler/neighbor_sampler.h"
#include "lase/train/checkpoint.h"
#include "lase/train/estimator.h"
#include "lase/train/step.h"
#include "lase/train/training_data.h"
#include "lase/train/weight_average.h"

namespace lase {

// Runs the batches of an epoch: all training nodes in random order, with sums estimated from
// sampled neighbors. The estimator is refreshed at its configured interval.
class EpochRunner {
 public:
  // Both arguments must outlive the runner.
  EpochRunner(const TrainOptions& options, const TrainingData& data);

  // Returns the mean loss, or nullopt if the loss is infinite or NaN (see diverged()) or the run
  // was stopped.
  std::optional<double> run(int64_t epoch, double learning_rate);
  const std::string& diverged() const { return diverged_; }
  // Several processes agree on it after every batch.
  bool stopped() const { return process_count() > 1 ? agreed_stop_ : requested_stop(); }

  const Estimator& estimator() const { return estimator_; }
  const WeightAverage& average() const { return average_; }
  // Weights at the start of the last epoch whose first loss was finite.
  const NamedTensors& good_weights() const { return good_; }

  // Saves and restores weights, optimizer and estimator.
  void save(Checkpoint& checkpoint) const;
  void restore(Checkpoint& checkpoint);

  double seconds() const;                                  // since construction
  double train_seconds() const { return train_seconds_; }  // of these in epochs
  double refresh_seconds() const { return refresh_seconds_; }
  int64_t links() const { return links_; }  // visited in batches, by all processes
  double links_per_second() const;
  int64_t steps() const { return steps_; }  // of this run
  // Bytes sent to other processes in epochs, by this one.
  int64_t bytes_sent() const { return bytes_sent_; }

 private:
  std::vector<int64_t> shuffled(int64_t epoch) const;
  std::optional<double> run_batches(int64_t epoch, double learning_rate);
  // Bytes sent to other processes by this one, for any purpose.
  int64_t sent_so_far() const;
  bool requested_stop() const { return options_.stop != nullptr && options_.stop->load(); }
  // Trains on batch `number`, the next of the stream.
  void step(int64_t epoch, int64_t number, BatchStream& stream, double learning_rate);
  // Reads the pending losses back from the device. Returns whether all are finite.
  bool read_losses(int64_t epoch);
  // The next `batches` batches of an epoch, from number `first`.
  BatchPlan plan(const std::vector<int64_t>& order, int64_t epoch, int64_t first,
                 int64_t batches) const;
  BatchSource::Options source_options(BatchPlan plan);
  std::unique_ptr<ItemSource> source(BatchPlan plan);
  void refresh(const std::vector<int64_t>& order, int64_t epoch, int64_t first);
  // The targets of the own chunks of the batches until the next refresh.
  LayerNodes targets_until_refresh(std::vector<int64_t> order, int64_t epoch, int64_t first);
  int64_t batches_per_epoch() const;

  const TrainOptions& options_;
  const TrainingData& data_;
  Model& model_;
  WeightAverage average_;
  std::unique_ptr<NeighborSampler> sampler_;
  TrainStep step_;
  Estimator estimator_;
  NamedTensors snapshot_;  // weights at the last refresh
  Hidden hidden_;          // since the last refresh
  NamedTensors initial_;   // weights at the start of the epoch
  NamedTensors good_;
  // Losses of the last steps that were not read yet.
  struct PendingLoss {
    at::Tensor loss;  // scalar
    int64_t batch = 0;
    int64_t seeds = 0;
  };
  std::vector<PendingLoss> pending_;
  double loss_sum_ = 0;  // of the epoch so far
  int64_t done_ = 0;     // seeds in it
  std::string diverged_;
  bool agreed_stop_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int64_t links_ = 0;
  int64_t steps_ = 0;
  int64_t own_links_ = 0;  // of the epoch so far, by this process
  int64_t bytes_sent_ = 0;
  double train_seconds_ = 0;
  double refresh_seconds_ = 0;
};

}  // namespace lase
