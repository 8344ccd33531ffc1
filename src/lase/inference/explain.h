#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lase/model/model_file.h"

namespace lase {

class Ego;
struct Network;

struct ExplainOptions {
  int64_t node = 0;
  int64_t output = -1;  // class or target to explain; −1: the predicted class, or the first target
  int64_t neighbors = 10;  // shown per layer
  int64_t attributes = 5;  // shown per neighbor
  int64_t features = 5;    // of the node, shown
  // Number of links per layer, and of attributes per link, whose exact effects are computed, those
  // with the largest first-order effects; 0: as many as take about a second.
  int64_t exact = 0;
};

// The effect of an attribute or a link is the score minus the score of the same network with only
// that attribute set to zero, or that link left out.
struct AttributeEffect {
  std::string name;
  double value = 0;
  double amplifier_fraction = 0;  // fraction of Σ_j |U_j f_j(e)|
  double effect = 0;              // on the score
};

struct NeighborEffect {
  int64_t node = 0;
  std::string name;
  double gate = 1;
  double effect = 0;  // of the link in this layer on the score
  std::vector<AttributeEffect> attributes;
};

struct FeatureEffect {
  std::string name;
  double value = 0;
  double effect = 0;  // on the score, relative to the mean of the training nodes
};

// The effect of the node itself. The effects of features and links need not add up.
struct OwnEffects {
  double bias = 0;                 // score of a node with average features and without links
  double features = 0;             // effect of all features of the node
  double links = 0;                // effect of all links of the node
  std::vector<FeatureEffect> top;  // the features with the largest effects
};

struct LayerExplanation {
  int64_t layer = 0;  // from 1
  int64_t links = 0;
  int64_t exact_links = 0;       // links whose exact effects were computed
  bool attributes_exact = true;  // whether effects of attributes are exact; else first-order
  std::vector<NeighborEffect> neighbors;  // largest effects first
};

// Explains the output of a model for a node by the effects of the node's links in every layer.
struct Explanation {
  std::string node;
  std::string output;             // class or target; "score" if links are predicted
  std::string predicted;          // class; empty for regression
  double score = 0;               // logit of the class, not calibrated, or standardized target
  double probability = 0;         // 0 for tasks without classes
  std::optional<OwnEffects> own;  // not for LastLayerExplainer
  std::vector<LayerExplanation> layers;
};

Explanation explain(const TrainedModel& trained, const Graph& graph, const ExplainOptions& options);

// Explains the outputs of a computation graph by the features and links of options.node.
Explanation explain_ego(const Network& network, const Ego& ego, const ExplainOptions& options);
// Throws Error if a number is out of range.
void check(const ExplainOptions& options, const Graph& graph);
// For regression, the prediction in the units of the target.
std::optional<double> target_of(const TrainedModel& trained, const Explanation& explanation);

// Explains many nodes of one graph by their links in the last layer only, whose input is computed
// once for all nodes. explain() is thread-safe; for a model without layers it returns an empty
// explanation.
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
