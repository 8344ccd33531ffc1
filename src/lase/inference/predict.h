#pragma once

#include <ATen/core/Tensor.h>
#include <span>
#include <string>
#include <vector>

#include "lase/model/model_file.h"

namespace lase {

// What a model says about every node of a graph.
struct Predictions {
  at::Tensor embedding;    // [nodes, width]
  at::Tensor outputs;      // [nodes, outputs]: logits, or numbers in the units of the targets
  at::Tensor probability;  // [nodes, outputs]: undefined for regression
};

// Exact, or by drawn neighbourhoods where `fanout` is not empty (one number for all layers, or one
// each). The graph must fit the model; see fitted_graph.
Predictions predict(const TrainedModel& trained, const Graph& graph,
                    std::span<const int64_t> fanout = {}, uint64_t seed = 1);

// The graph's labels in the numbers of the model's classes, by name. Classes that the model does
// not know come after its own.
Labels labels_as_trained(const TrainedModel& trained, const Graph& graph);

// node, label, probability, and the next best with --top-k; or node and predicted numbers.
void write_predictions(const TrainedModel& trained, const Graph& graph,
                       const Predictions& predictions, int64_t top_k, const std::string& path);

// .npy, or a csv with the names of the nodes.
void write_embeddings(const Graph& graph, const at::Tensor& embedding, const std::string& path);

}  // namespace lase
