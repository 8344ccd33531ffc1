#include "lase/model/model_file.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <map>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/json.h"
#include "lase/base/lase_file.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/pca.h"
#include "lase/model/model.h"

namespace lase {
namespace {

using at::Tensor;
using nlohmann::json;

constexpr const char* kWeight = "weight.";

void add_tensor(ArrayWriter& writer, const std::string& name, const Tensor& tensor) {
  if (!tensor.defined()) return;
  const Tensor values = tensor.detach().cpu().contiguous();
  const auto* data = values.data_ptr<float>();
  writer.add(name, Array<float>(std::vector<float>(data, data + values.numel())),
             values.sizes().vec());
}

Tensor get_tensor(const SafetensorsFile& file, const std::string& name,
                  const std::vector<int64_t>& shape) {
  const Array<float> values = file.get<float>(name, shape);
  check_finite(values, name, file.path());
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).clone();
}

std::string table_name(size_t number, const char* part) {
  return join("learned.", number, ".", part);
}

// Adds the arrays and returns the rest of the description.
json add_learned(ArrayWriter& writer, const LearnedFeatures& learned) {
  if (!learned.present()) return nullptr;
  json widths = json::array();
  const auto& tables = learned.embedding.tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::vector<int64_t> shape = {learned.embedding.nodes, tables[i].width};
    writer.add(table_name(i, "center"), Array<float>(tables[i].center), shape);
    if (!tables[i].context.empty()) {
      writer.add(table_name(i, "context"), Array<float>(tables[i].context), shape);
    }
    widths.push_back({{"width", tables[i].width}, {"two", !tables[i].context.empty()}});
  }
  writer.add("learned.names", learned.names);
  return {{"options", to_json(learned.options)},
          {"nodes", learned.embedding.nodes},
          {"tables", widths}};
}

LearnedFeatures get_learned(const SafetensorsFile& file, const json& about) {
  LearnedFeatures learned;
  if (about.is_null()) return learned;
  learned.options = embed_option_table().from_json(about.at("options"));
  learned.embedding.nodes = non_negative_at(about, "nodes");
  learned.names = get_column_names(file, "learned.names", learned.embedding.nodes);
  for (const json& entry : about.at("tables")) {
    const std::vector<int64_t> shape = {learned.embedding.nodes, non_negative_at(entry, "width")};
    const auto rows = [&](const char* part) {
      const std::string name = table_name(learned.embedding.tables.size(), part);
      const auto values = file.get<float>(name, shape);
      check_finite(values, name, file.path());
      return std::vector<float>(values.begin(), values.end());
    };
    Embedding::Table table{.width = shape[1], .center = rows("center"), .context = {}};
    if (entry.at("two").get<bool>()) table.context = rows("context");
    learned.embedding.tables.push_back(std::move(table));
  }
  return learned;
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
  add_tensor(writer, "target_mean", trained.target_mean);
  add_tensor(writer, "target_scale", trained.target_scale);
  writer.add("label_names", trained.label_names);
  writer.add("node_feature_names", trained.feature_names);
  writer.add("link_attribute_names", trained.attribute_names);
  writer.add("node_reduction", trained.node_reduction);
  writer.add("link_reduction", trained.link_reduction);
  const json learned = add_learned(writer, trained.learned);
  const ModelShape& shape = trained.model->shape();
  const json about = {{"options", to_json(trained.model->options())},
                      {"node_features", shape.node_features},
                      {"link_attributes", shape.link_attributes},
                      {"outputs", shape.outputs},
                      {"task", task_name(trained.task)},
                      {"node_scaling", name_of(trained.scaling.nodes)},
                      {"separate_directions", trained.separate_directions},
                      {"degree_features", trained.degree_features},
                      {"learned", learned},
                      {"training", trained.training}};
  writer.finish(file_metadata(kModelFile, about));
}

TrainedModel load_model(const std::string& path) try {
  const auto file = open_lase_file(path, kModelFile);
  file.verify();
  const json about = file_description(file, kModelFile);
  TrainedModel trained;
  const ModelShape shape{.node_features = non_negative_at(about, "node_features"),
                         .link_attributes = non_negative_at(about, "link_attributes"),
                         .outputs = non_negative_at(about, "outputs")};
  require(shape.node_features >= 0 && shape.link_attributes >= 0 && shape.outputs >= 0, path,
          ": the description of the model is damaged");
  const auto word = [&](const char* name, auto* from) {
    try {
      return from(about.at(name).template get<std::string>());
    } catch (const Error& error) {
      fail(path, ": ", error.what());
    }
  };
  trained.task = word("task", task_from);
  trained.scaling.nodes = word(
      "node_scaling", +[](std::string_view name) {
        return value_named<NodeScaling>(name, kEnumNames<NodeScaling>, "scaling");
      });
  trained.scaling.node_mean = get_tensor(file, "scaling.node_mean", {shape.node_features});
  trained.scaling.node_scale = get_tensor(file, "scaling.node_scale", {shape.node_features});
  trained.scaling.link_mean = get_tensor(file, "scaling.link_mean", {shape.link_attributes});
  trained.scaling.link_scale = get_tensor(file, "scaling.link_scale", {shape.link_attributes});
  if (file.has("target_mean")) {
    trained.target_mean = get_tensor(file, "target_mean", {shape.outputs});
    trained.target_scale = get_tensor(file, "target_scale", {shape.outputs});
  }
  trained.label_names = get_column_names(file, "label_names", shape.outputs);
  trained.separate_directions = about.at("separate_directions").get<bool>();
  trained.degree_features = about.at("degree_features").get<bool>();
  trained.learned = get_learned(file, about.value("learned", json()));
  trained.feature_names = get_column_names(file, "node_feature_names", shape.node_features);
  trained.attribute_names = get_column_names(file, "link_attribute_names", shape.link_attributes);
  // Each parameter is read when the model requests it, so that memory use is bounded by the size of
  // the file, whatever its options claim.
  const auto read = [&](const std::string& name, const std::vector<int64_t>& size) {
    return get_tensor(file, kWeight + name, size);
  };
  trained.model = std::make_shared<Model>(model_option_table().from_json(about.at("options")),
                                          shape, Parameters(read));
  const auto weights = std::count_if(file.tensors().begin(), file.tensors().end(),
                                     [](auto& entry) { return entry.first.starts_with(kWeight); });
  require(weights == std::ssize(trained.model->parameters().all()), path, ": holds ", weights,
          " weights, but its options describe a model with ",
          trained.model->parameters().all().size());
  trained.node_reduction = get_reduction(file, "node_reduction",
                                         shape.node_features - trained.learned.embedding.width());
  trained.link_reduction = get_reduction(file, "link_reduction", shape.link_attributes);
  trained.training = about.at("training");
  return trained;
} catch (const OptionError& error) {
  fail(path, ": ", error.what());
} catch (const json::exception&) {
  fail(path, ": the description of the model is damaged");
}

namespace {

// Throws Error for the first difference between two lists of names.
void check_names(const StringTable& expected, const StringTable& found, std::string_view what,
                 const std::string& path) {
  require(expected.size() == found.size(), path, ": has ", found.size(), " ", what,
          ", but the model was trained on ", expected.size(), "; import the data with ",
          OptionName{"like"}, " and the training graph");
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == found[i]) continue;
    fail(path, ": column ", i + 1, " of the ", what, " is ", quote(found[i]),
         ", but the model was trained on ", quote(expected[i]), "; import the data with ",
         OptionName{"like"}, " and the training graph");
  }
}

}  // namespace

Graph prepare_graph(const TrainedModel& trained, Graph graph, const std::string& path) {
  require(graph.node_count() > 0, path, ": the graph has no nodes");
  const bool had_features = graph.nodes.features.columns > 0;
  if (trained.degree_features && !had_features) {
    graph.nodes.features = degree_features(graph);
    graph.nodes.feature_names = trained.feature_names;
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
  if (trained.learned.present()) {
    const int64_t own = trained.feature_names.size() - trained.learned.embedding.width();
    require(graph.nodes.features.columns == own, path, ": has ", graph.nodes.features.columns,
            " node features, but the model was trained on ", own,
            " in addition to those learned from links");
    add_features(trained.learned, graph);
  }
  check_names(trained.feature_names, graph.nodes.feature_names, "node features", path);
  check_names(trained.attribute_names, graph.attribute_names, "link attributes", path);
  constexpr std::string_view kSeparate = "separate attributes for each direction";
  constexpr std::string_view kShared = "the same attributes in both directions";
  require(trained.separate_directions == graph.separate_directions, path, ": its links have ",
          graph.separate_directions ? kSeparate : kShared,
          ", but the model was trained on links with ",
          trained.separate_directions ? kSeparate : kShared);
  return graph;
}

}  // namespace lase
