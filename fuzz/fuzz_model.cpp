// Fuzzes model files, up to the step that turns arrays into tensors; see stored_file.h for the
// input. Reading may only throw lase::Error. What was read must be safe to apply to a graph.
#include <algorithm>

#include "lase/base/parallel.h"
#include "lase/graph/pca.h"
#include "lase/graph/random_graph.h"
#include "lase/model/stored_model.h"

#include "harness.h"
#include "stored_file.h"

namespace {

// Reads every weight with its stored shape.
void read_weights(const lase::StoredModel& model) {
  const std::string_view prefix(lase::kWeight);
  for (const auto& [name, tensor] : model.file.tensors()) {
    if (name.starts_with(prefix)) model.weight(name.substr(prefix.size()), tensor.shape);
  }
}

void add_learned_features(const lase::StoredModel& model) {
  if (!model.learned.present()) return;
  lase::LearnedFeatures learned = model.learned;
  // Large values are legitimate, but too slow here.
  const auto limit = [](int64_t& option) { option = std::min<int64_t>(option, 2); };
  learned.options.epochs = 1;
  limit(learned.options.walks);
  limit(learned.options.length);
  limit(learned.options.negatives);
  static const lase::Graph kGraph =
      lase::random_graph({.nodes = 3, .links = 2, .node_dim = 1, .link_dim = 1, .classes = 2});
  lase::Graph graph = kGraph;
  lase::add_features(learned, graph);
  walk_graph(graph);
}

void apply(const lase::Reduction& reduction) {
  if (!reduction.present()) return;
  const std::vector<float> row(static_cast<size_t>(reduction.columns()), 1.0F);
  lase::reduce(lase::Attributes::dense(row, 1, reduction.columns()), reduction);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static StoredFile file(lase::kModelFile);
  const lase::ThreadLimit one(1);
  try {
    const auto model = lase::read_model(file.set({reinterpret_cast<const char*>(data), size}));
    must_hold("options", [&] {
      lase::model_option_table().check(model.options);
      lase::embed_option_table().check(model.learned.options);
    });
    read_weights(model);
    add_learned_features(model);
    apply(model.node_reduction);
    apply(model.link_reduction);
  } catch (const lase::Error&) {  // the input was rejected
  }
  return 0;
}
