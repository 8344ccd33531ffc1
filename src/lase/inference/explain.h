#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lase/model/model_file.h"

namespace lase {

struct ExplainOptions {
  int64_t node = 0;
  int64_t output = -1;  // the class or target explained; −1: the predicted class, the first target
  int64_t neighbors = 10;  // shown a layer
  int64_t attributes = 5;  // shown a neighbour
  int64_t tried = 0;  // links left out one by one in the last layer: those that weigh most; 0: all
};

// What an attribute of a link did. Effects are exact: the score less the score of the same network
// with that one thing left out.
struct AttributeEffect {
  std::string name;
  double value = 0;
  double amplifier_share = 0;  // of Σ_j |U_j f_j(e)|
  double effect = 0;           // on the score
};

struct NeighborEffect {
  int64_t node = 0;
  std::string name;
  double gate = 1;
  double effect = 0;  // of the link in this layer, on the score
  std::vector<AttributeEffect> attributes;
};

struct LayerExplanation {
  int64_t layer = 0;  // from 1
  int64_t links = 0;
  std::vector<NeighborEffect> neighbors;  // those with the largest effects first
};

// Why a model says what it says about a node: in every layer, which links of the node counted.
struct Explanation {
  std::string node;
  std::string output;
  double score = 0;        // the logit of the class, or the standardised number
  double probability = 0;  // 0 for regression
  std::vector<LayerExplanation> layers;
};

Explanation explain(const TrainedModel& trained, const Graph& graph, const ExplainOptions& options);

// Explains many nodes of one graph by the links that the last layer reads, which are the only layer
// of its explanations: what that layer reads is computed once for all. Can be asked from many
// threads. A model without layers explains nothing.
class LastLayerExplainer {
 public:
  LastLayerExplainer(const TrainedModel& trained, const Graph& graph);
  ~LastLayerExplainer();
  Explanation explain(const ExplainOptions& options) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace lase
