#pragma once

#include "lase/graph/graph.h"
#include "lase/model/model_file.h"

namespace lase {

// Known labels as node features, after all others: the labels of training nodes, or of all labeled
// nodes of a graph without a split; 0 for the other nodes.
//
//   one class        label=CLASS, 1 for the class of the node
//   several classes  label=CLASS, 1 for each class of the node, and "label known", 1
//   regression       label=TARGET, standardized as in training, and "label known", 1
//
// A node's own label must not be an input of its own prediction; see Inputs::hiding().

// Adds them to the features of a graph. Reads the task, the names of the labels and the scale of
// the targets. Labels that the model does not know count as unknown.
void add_label_inputs(const TrainedModel& trained, Graph& graph);

// The labels of a graph with the class numbers of the model, matched by name. Classes unknown to
// the model are numbered after its own.
Labels labels_as_trained(const TrainedModel& trained, const Labels& from);

}  // namespace lase
