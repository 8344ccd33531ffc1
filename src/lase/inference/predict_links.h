#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/inference/link_options.h"
#include "lase/inference/metrics.h"
#include "lase/inference/prediction_columns.h"
#include "lase/model/model_file.h"
#include "lase/ops/device.h"

namespace lase {

class Objective;
class Seeds;

// Applies a model of links to a graph.
class LinkPredictor {
 public:
  // Prepares the graph as in training. If the training graph had no split of links, the random
  // split of training is repeated on it; the targets of another graph without a split belong to
  // none. `path` is for messages. The arguments may be discarded afterwards.
  LinkPredictor(const TrainedModel& trained, const Graph& graph, const std::string& path,
                const DeviceOptions& device = {});
  LinkPredictor(const LinkPredictor&) = delete;
  LinkPredictor& operator=(const LinkPredictor&) = delete;
  ~LinkPredictor();

  // With targets and their split.
  const Graph& graph() const { return graph_; }
  // With the labels of the graph, numbered like the classes of the model.
  const Objective& objective() const { return *objective_; }
  // How links are ranked; none if they are not.
  std::optional<Ranking> ranking() const;
  // The targets of a split, with known labels if the task has labels.
  std::vector<int64_t> links_of(Split split) const;
  // Exact outputs for targets of a split, as Objective::score expects them. Targets of the training
  // split, or of none, are scored in batches of up to 256, and the links of a batch pass no
  // messages.
  at::Tensor evaluate(std::span<const int64_t> links, Split split) const;
  // Scores on the targets of a split. Throws Error if it has none.
  Scores score(Split split) const;
  // Outputs for targets, in any split: calibrated logits, values in the units of the labels, or
  // scores.
  at::Tensor predict(std::span<const int64_t> links) const;
  // Embeddings of all nodes, from all links.
  at::Tensor embedding() const;

  // The `count` nodes most likely to be linked to each node, except for those that are. If links
  // have relations, by the relation of this name.
  struct Partner {
    int64_t source = 0;
    int64_t target = 0;
    float score = 0;
  };
  std::vector<Partner> partners(std::span<const int64_t> nodes, int64_t count,
                                const std::string& relation = {}) const;

 private:
  struct Visible;  // a graph and its inputs
  Visible visible(Split split) const;
  // Exact outputs of seeds, with the messages that targets of this split may see.
  at::Tensor outputs(const Seeds& seeds, std::span<const int64_t> links, Split split) const;
  at::Tensor hidden_outputs(const Visible& visible, const Seeds& seeds,
                            std::span<const int64_t> links) const;

  const TrainedModel trained_;
  std::string path_;
  std::shared_ptr<const Model> model_;  // on the device
  Precision precision_;
  int64_t device_memory_ = 0;
  LinkTaskOptions options_;
  uint64_t seed_ = 1;
  Graph graph_;
  std::unique_ptr<Objective> objective_;
};

// The model with another protocol of ranks; kAuto: that of training. Throws Error if it does not
// predict links, or cannot be ranked so.
TrainedModel with_ranking(TrainedModel trained, Ranking ranking);

// Writes source, target and the columns of the task for all targets: label and probability, numbers
// or a score.
void write_link_predictions(const LinkPredictor& predictor, const PredictionColumns& columns,
                            const std::string& path);

}  // namespace lase
