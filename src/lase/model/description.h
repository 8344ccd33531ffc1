#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/base/names.h"
#include "lase/base/string_table.h"
#include "lase/embed/features.h"
#include "lase/graph/graph.h"

namespace lase {

// What a model predicts: labels of nodes, labels of links, which nodes are linked, or only
// embeddings, learned by predicting links. kAuto: labels of nodes or links, whichever the graph
// has.
enum class Predicts : uint8_t { kAuto, kNodes, kLinks, kLinkPrediction, kEmbedding };
template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<Predicts> = {
    "auto", "nodes", "links", "link-prediction", "embedding"};

// How logits become decisions, chosen on validation nodes.
struct Decision {
  std::string metric = {};         // that selected the best epoch; empty: the default of the task
  int64_t positive = -1;           // with two classes, the one that is rarer among training nodes
  double temperature = 1;          // logits are divided by it first; see Objective::calibrate
  std::vector<float> offset = {};  // [outputs]: subtracted from the logits; empty: zero

  float offset_of(int64_t c) const { return offset.empty() ? 0 : offset[static_cast<size_t>(c)]; }
};

// The last columns of node features that are added to those of the graph: learned features, then
// known labels.
struct AddedColumns {
  int64_t learned = 0;
  int64_t labels = 0;

  int64_t all() const { return learned + labels; }
};

// What a model needs to know about its data: names and meaning of its inputs and outputs.
struct ModelDescription {
  Predicts predicts = Predicts::kNodes;  // not kAuto
  Task task = Task::kNone;               // kind of labels
  StringTable label_names;               // [outputs]
  StringTable feature_names;             // [node features]
  StringTable attribute_names;           // [link attributes]
  StringTable target_names;              // [attributes of target links]
  Decision decision;
  bool separate_directions = false;
  bool degree_features = false;  // the graph had no features; see degree_features()
  LearnedFeatures learned;       // in addition to those of the graph, if requested
  bool label_inputs = false;     // known labels are among the features; see add_label_inputs()
  // The last link attribute is not one of the graph; see add_common_neighbors().
  bool common_neighbors = false;
  Reduction node_reduction;
  Reduction link_reduction;
  // Of the training graph; see RawGraph. Empty in models of version 0.1.
  nlohmann::json preprocessing = nlohmann::json::object();
  // How links are split and ranked, if links are predicted; see LinkTaskOptions.
  nlohmann::json link_task = nlohmann::json::object();
  nlohmann::json training = nlohmann::json::object();  // options, curve, scores; informational

  // Labels have a column each; if not every node has exactly one, another tells whether any is
  // known.
  AddedColumns added() const {
    const int64_t labels = label_names.size() + (task == Task::kSingleLabel ? 0 : 1);
    return {.learned = learned.embedding.width(), .labels = label_inputs ? labels : 0};
  }
};

}  // namespace lase
