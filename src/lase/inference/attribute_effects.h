#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lase/inference/metrics.h"
#include "lase/model/model_file.h"

namespace lase {

// The effect of a link attribute on the outputs for some nodes: how they change if the attribute is
// replaced on all links by its mean on the training links (0 for sparse attributes).
struct AttributeSummary {
  std::string name;
  int64_t links = 0;  // rows of link attributes in which it is not 0
  // Mean over the nodes of the score of the predicted class or first target, minus the score
  // without the attribute; and the mean of the absolute difference.
  double effect = 0;
  double absolute_effect = 0;
  double metric_change = 0;  // metric minus the metric without the attribute
};

struct AttributeEffects {
  int64_t nodes = 0;
  int64_t columns = 0;  // link attributes of the graph
  Task task = Task::kNone;
  Metric metric;                             // of the model
  AttributeSummary all;                      // all attributes replaced at once
  std::vector<AttributeSummary> attributes;  // those that vary, by descending absolute effect
};

struct AttributeEffectOptions {
  int64_t most = 50;  // attributes to examine, those on most links first
  std::function<bool(int64_t done, int64_t all)> progress = {};  // false: stop, by Error
};

// Effects on the outputs for `nodes`, which must be labeled. Needs one exact pass over the graph
// per attribute. Throws Error if the links have no attributes or the model does not read them.
AttributeEffects attribute_effects(const TrainedModel& trained, const Graph& graph,
                                   std::span<const int64_t> nodes,
                                   const AttributeEffectOptions& options = {});

}  // namespace lase
