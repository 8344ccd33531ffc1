#include "lase/model/model_file.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <set>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/lase_file.h"
#include "lase/embed/features_file.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/common_neighbors.h"
#include "lase/graph/pca.h"
#include "lase/model/label_inputs.h"
#include "lase/model/model.h"
#include "lase/model/stored_model.h"

namespace lase {
namespace {

using at::Tensor;
using nlohmann::json;

void add_tensor(ArrayWriter& writer, const std::string& name, const Tensor& tensor) {
  if (!tensor.defined()) return;
  const Tensor values = tensor.detach().cpu().contiguous();
  const auto* data = values.data_ptr<float>();
  writer.add(name, Array<float>(std::vector<float>(data, data + values.numel())),
             values.sizes().vec());
}

Tensor to_tensor(const Array<float>& values, const std::vector<int64_t>& shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).clone();
}

}  // namespace

void save_model(const TrainedModel& trained, const std::string& path) {
  ArrayWriter writer(path);
  for (const auto& [name, value] : trained.model->parameters().all()) {
    add_tensor(writer, kWeight + name, value);
  }
  add_tensor(writer, "scaling.node_mean", trained.scaling.node_mean);
  add_tensor(writer, "scaling.node_scale", trained.scaling.node_scale);
  add_tensor(writer, "scaling.link_mean", trained.scaling.link_mean);
  add_tensor(writer, "scaling.link_scale", trained.scaling.link_scale);
  add_tensor(writer, "scaling.target_mean", trained.scaling.target_mean);
  add_tensor(writer, "scaling.target_scale", trained.scaling.target_scale);
  add_tensor(writer, "target_mean", trained.target_mean);
  add_tensor(writer, "target_scale", trained.target_scale);
  writer.add("label_names", trained.label_names);
  writer.add("node_feature_names", trained.feature_names);
  writer.add("link_attribute_names", trained.attribute_names);
  if (trained.model->shape().links) writer.add("target_attribute_names", trained.target_names);
  writer.add("node_reduction", trained.node_reduction);
  writer.add("link_reduction", trained.link_reduction);
  const json learned = add_learned(writer, trained.learned);
  const ModelShape& shape = trained.model->shape();
  json about = {{"options", to_json(trained.model->options())},
                {"node_features", shape.node_features},
                {"link_attributes", shape.link_attributes},
                {"outputs", shape.outputs},
                {"task", task_name(trained.task)},
                {"node_scaling", name_of(trained.scaling.nodes)},
                {"separate_directions", trained.separate_directions},
                {"degree_features", trained.degree_features},
                {"learned", learned},
                {"label_inputs", trained.label_inputs},
                {"common_neighbors", trained.common_neighbors},
                {"preprocessing", trained.preprocessing},
                {"decision",
                 {{"metric", trained.decision.metric},
                  {"positive", trained.decision.positive},
                  {"temperature", trained.decision.temperature},
                  {"offset", trained.decision.offset}}},
                {"training", trained.training}};
  if (shape.links) {
    about["links"] = true;
    about["target_attributes"] = shape.target_attributes;
    about["symmetric"] = shape.symmetric;
    about["predicts"] = name_of(trained.predicts);
    about["link_task"] = trained.link_task;
  }
  writer.finish(file_metadata(kModelFile, about));
}

TrainedModel load_model(const std::string& path) try {
  const StoredModel stored = read_model(path);
  TrainedModel trained{static_cast<const ModelDescription&>(stored)};
  const auto vector = [](const Array<float>& values) { return to_tensor(values, {values.size()}); };
  trained.scaling = {.nodes = stored.node_scaling,
                     .added = stored.added(),
                     .node_mean = vector(stored.node_mean),
                     .node_scale = vector(stored.node_scale),
                     .link_mean = vector(stored.link_mean),
                     .link_scale = vector(stored.link_scale)};
  if (stored.shape.links) {
    trained.scaling.target_mean = vector(stored.target_attribute_mean);
    trained.scaling.target_scale = vector(stored.target_attribute_scale);
  }
  if (stored.has_targets) {
    trained.target_mean = vector(stored.target_mean);
    trained.target_scale = vector(stored.target_scale);
  }
  // Each parameter is read when the model requests it, so that memory use is bounded by the size of
  // the file, whatever its options claim.
  const auto read = [&](const std::string& name, const std::vector<int64_t>& size) {
    return to_tensor(stored.weight(name, size), size);
  };
  trained.model = std::make_shared<Model>(stored.options, stored.shape, Parameters(read));
  require(stored.weight_count() == std::ssize(trained.model->parameters().all()), path, ": holds ",
          stored.weight_count(), " weights, but its options describe a model with ",
          trained.model->parameters().all().size());
  return trained;
} catch (const OptionError& error) {
  fail(path, ": ", error.what());
}

namespace {

// " (without: a, b, …)": the first expected names that were not found.
std::string difference(const StringTable& expected, const StringTable& found) {
  constexpr int kShown = 3;
  std::set<std::string_view> known;
  for (int64_t i = 0; i < found.size(); ++i) known.insert(found[i]);
  std::string text;
  int shown = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (known.contains(expected[i])) continue;
    if (shown++ == kShown) return text + ", ...)";
    text += join(text.empty() ? " (without: " : ", ", expected[i]);
  }
  return text.empty() ? text : text + ")";
}

bool equal(const StringTable& a, const StringTable& b) {
  if (a.size() != b.size()) return false;
  for (int64_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

StringTable first_names(const StringTable& names, int64_t count) {
  StringTableBuilder first;
  for (int64_t i = 0; i < std::min(count, names.size()); ++i) first.add(names[i]);
  return first.finish();
}

// Throws Error if the time slices of the graph are not those of the training graph, although their
// names may be.
void check_slices(const nlohmann::json& expected, const nlohmann::json& found,
                  const std::string& path) {
  for (const char* key : {"slices_by", "slice_boundaries"}) {
    if (!expected.contains(key) || !found.contains(key)) continue;
    require(expected[key] == found[key], path,
            ": was imported with other time slices than the training graph; import the data with ",
            OptionName{"like"}, " and the training graph");
  }
}

}  // namespace

void check_names(const StringTable& expected, const StringTable& found, std::string_view what,
                 const std::string& path) {
  require(expected.size() == found.size(), path, ": has ", found.size(), " ", what,
          ", but the model was trained on ", expected.size(), difference(expected, found),
          "; import the data with ", OptionName{"like"}, " and the training graph");
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == found[i]) continue;
    fail(path, ": column ", i + 1, " of the ", what, " is ", quote(found[i]),
         ", but the model was trained on ", quote(expected[i]), "; import the data with ",
         OptionName{"like"}, " and the training graph");
  }
}

Graph prepare_graph(const TrainedModel& trained, Graph graph, const std::string& path) {
  require(graph.node_count() > 0, path, ": has no nodes");
  const bool had_features = graph.nodes.features.columns > 0;
  if (trained.degree_features && !had_features) {
    graph.nodes.features = trained.model->shape().links ? constant_feature(graph.node_count())
                                                        : degree_features(graph);
    graph.nodes.feature_names = first_names(trained.feature_names, graph.nodes.features.columns);
  }
  const auto reduces = [](const Reduction& mine, const Reduction& theirs, int64_t columns) {
    return mine.present() && !theirs.present() && columns == mine.columns();
  };
  if (reduces(trained.node_reduction, graph.node_reduction, graph.nodes.features.columns)) {
    check_names(trained.node_reduction.names, graph.nodes.feature_names, "node features", path);
    reduce_nodes(graph, {}, trained.node_reduction);
  }
  if (reduces(trained.link_reduction, graph.link_reduction, graph.link_attributes.columns)) {
    check_names(trained.link_reduction.names, graph.attribute_names, "link attributes", path);
    reduce_links(graph, {}, trained.link_reduction);
  }
  // A graph with the names of all columns, added ones included, is already prepared.
  if (trained.common_neighbors && !equal(trained.attribute_names, graph.attribute_names)) {
    add_common_neighbors(graph);
  }
  check_names(trained.attribute_names, graph.attribute_names, "link attributes", path);
  const bool is_prepared = equal(trained.feature_names, graph.nodes.feature_names);
  if (trained.learned.present() && !is_prepared) {
    const int64_t own = trained.feature_names.size() - trained.scaling.added.all();
    require(graph.nodes.features.columns == own, path, ": has ", graph.nodes.features.columns,
            " node features, but the model was trained on ", own,
            " in addition to those learned from links");
    add_features(trained.learned, graph);
  }
  if (trained.label_inputs && !is_prepared) add_label_inputs(trained, graph);
  check_names(trained.feature_names, graph.nodes.feature_names, "node features", path);
  check_slices(trained.preprocessing, graph.preprocessing, path);
  constexpr std::string_view kSeparate = "separate attributes for each direction";
  constexpr std::string_view kShared = "the same attributes in both directions";
  require(trained.separate_directions == graph.separate_directions, path, ": its links have ",
          graph.separate_directions ? kSeparate : kShared,
          ", but the model was trained on links with ",
          trained.separate_directions ? kSeparate : kShared);
  return graph;
}

Graph fitting_graph(const TrainedModel& trained, const Graph& graph) {
  const ModelShape& shape = trained.model->shape();
  Graph prepared = prepare_graph(trained, graph, "the graph");
  require(prepared.nodes.features.columns == shape.node_features &&
              prepared.link_attributes.columns == shape.link_attributes,
          "the graph has ", prepared.nodes.features.columns, " node features and ",
          prepared.link_attributes.columns, " link attributes, but the model was trained on ",
          shape.node_features, " and ", shape.link_attributes);
  return prepared;
}

}  // namespace lase
