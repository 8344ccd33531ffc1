#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "lase/inference/objective.h"
#include "lase/model/model.h"
#include "lase/sampler/divided_sampler.h"
#include "lase/train/batch_source.h"

namespace lase {

// Prepares the local chunks of batches of a graph that is divided among processes. Sampled arcs,
// features and baseline states are fetched from the other processes for a window of several batches
// at once, in the same order by all processes.
class DividedSource : public ItemSource {
 public:
  struct Options {
    BatchPlan plan;
    const Objective* objective = nullptr;
    const Attributes* features = nullptr;  // of the own rows
    const Scaling* scaling = nullptr;
    // The model of the last exact pass and its states and sums of the own rows; null: no snapshot.
    const Model* baseline_model = nullptr;
    const std::vector<BaselineLayer>* baseline = nullptr;
    // Used by the background thread alone; null: items are prepared by the thread that reads them.
    ProcessGroup* group = nullptr;
  };
  // The arguments must outlive the source.
  DividedSource(const DividedGraph& graph, const Adjacency& arcs, const Sampling& sampling,
                Options options);

  int64_t items() const override { return options_.plan.batches * own_.size(); }
  const at::Device& device() const override { return device_; }
  BatchItem make(int64_t i) override;
  int64_t ahead() const override { return kWindow * own_.size(); }
  bool in_background() const override { return options_.group != nullptr; }
  void abandon() override;

 private:
  static constexpr int64_t kWindow = 4;  // batches

  void load(int64_t first_batch);

  const DividedGraph& graph_;
  DividedSampler sampler_;
  Options options_;
  ProcessGroup& group_;
  Part own_;  // chunks
  at::Device device_ = at::kCPU;
  at::Tensor degree_;            // [own rows]
  std::deque<BatchItem> ready_;  // of the window
};

}  // namespace lase
