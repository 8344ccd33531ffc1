#pragma once

#include <ATen/core/Tensor.h>
#include <functional>
#include <string>
#include <vector>

#include "lase/inference/prediction_columns.h"
#include "lase/model/label_inputs.h"
#include "lase/model/model_file.h"
#include "lase/ops/device.h"

namespace lase {

// Outputs of a model for every node of a graph.
struct Predictions {
  at::Tensor embedding;  // [nodes, width]
  at::Tensor outputs;  // [nodes, outputs]: calibrated logits, or values in the units of the targets
};

struct PredictOptions {
  // Neighbor sampling: one number for all layers, or one per layer. Empty: exact inference.
  std::vector<int64_t> fanout = {};
  uint64_t seed = 1;
  DeviceOptions device = {};
};

// Throws Error if the attributes of the graph do not fit the model. The results are on the CPU.
Predictions predict(const TrainedModel& trained, const Graph& graph,
                    const PredictOptions& options = {});

// The probabilities of the classes [rows, outputs], given rows of Predictions::outputs. Undefined
// for regression.
at::Tensor probabilities(const TrainedModel& trained, const at::Tensor& outputs);

// The class of every node [rows], given rows of Predictions::outputs: by the highest probability,
// or with two classes by the threshold of the model. Undefined for other tasks.
at::Tensor predicted_classes(const TrainedModel& trained, const at::Tensor& outputs);

// Writes node, label and probability; for several labels per node also all of them; for regression,
// node and predicted values.
void write_predictions(const TrainedModel& trained, const Graph& graph,
                       const Predictions& predictions, const PredictionColumns& columns,
                       const std::string& path);

// The same for outputs that are computed elsewhere: rows(first, last) are those from `first` to
// `last`, or none, which leaves them out.
void write_predictions(const TrainedModel& trained, const StringTable& names,
                       const std::function<at::Tensor(int64_t first, int64_t last)>& rows,
                       const PredictionColumns& columns, const std::string& path);

// Writes .npy, or CSV with node names.
void write_embeddings(const Graph& graph, const at::Tensor& embedding, const std::string& path);

}  // namespace lase
