#include "lase/model/stored_model.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/json.h"
#include "lase/base/lase_file.h"
#include "lase/embed/features_file.h"
#include "lase/graph/array_writer.h"

namespace lase {
namespace {

using nlohmann::json;

Array<float> get_finite(const SafetensorsFile& file, const std::string& name,
                        const std::vector<int64_t>& shape) {
  Array<float> values = file.get<float>(name, shape);
  check_finite(values, name, file.path());
  return values;
}

// Whether the entries that are read again have the right type. The others are informational.
bool is_training(const json& training) {
  const auto counts = [&](const char* key) {
    return !training.contains(key) || non_negative_at(training, key) >= 0;
  };
  return training.is_object() && counts("epochs") && counts("best_epoch");
}

Decision decision_from(const json& decision) {
  return {.metric = decision.at("metric").get<std::string>(),
          .positive = decision.at("positive").get<int64_t>(),
          .temperature = decision.value("temperature", 1.0),
          .offset = decision.at("offset").get<std::vector<float>>()};
}

}  // namespace

Array<float> StoredModel::weight(const std::string& name, const std::vector<int64_t>& size) const {
  return get_finite(file, kWeight + name, size);
}

int64_t StoredModel::weight_count() const {
  return std::count_if(file.tensors().begin(), file.tensors().end(),
                       [](auto& entry) { return entry.first.starts_with(kWeight); });
}

StoredModel read_model(const std::string& path) try {
  StoredModel stored;
  stored.file = open_lase_file(path, kModelFile);
  const SafetensorsFile& file = stored.file;
  file.verify();
  const json about = file_description(file, kModelFile);
  const ModelShape shape{.node_features = non_negative_at(about, "node_features"),
                         .link_attributes = non_negative_at(about, "link_attributes"),
                         .outputs = non_negative_at(about, "outputs"),
                         .links = about.value("links", false),
                         .target_attributes = about.value("target_attributes", int64_t{0}),
                         .symmetric = about.value("symmetric", false)};
  require(shape.node_features >= 0 && shape.link_attributes >= 0 && shape.outputs >= 0 &&
              shape.target_attributes >= 0,
          path, ": the description of the model is damaged");
  stored.shape = shape;
  const auto word = [&](const char* name, auto* from) {
    try {
      return from(about.at(name).template get<std::string>());
    } catch (const Error& error) {
      fail(path, ": ", error.what());
    }
  };
  stored.task = word("task", task_from);
  stored.node_scaling = word(
      "node_scaling", +[](std::string_view name) {
        return value_named<NodeScaling>(name, kEnumNames<NodeScaling>, "scaling");
      });
  require(stored.node_scaling != NodeScaling::kAuto, path,
          ": the description of the model is damaged");
  stored.node_mean = get_finite(file, "scaling.node_mean", {shape.node_features});
  stored.node_scale = get_finite(file, "scaling.node_scale", {shape.node_features});
  stored.link_mean = get_finite(file, "scaling.link_mean", {shape.link_attributes});
  stored.link_scale = get_finite(file, "scaling.link_scale", {shape.link_attributes});
  stored.has_targets = file.has("target_mean");
  if (stored.has_targets) {
    stored.target_mean = get_finite(file, "target_mean", {shape.outputs});
    stored.target_scale = get_finite(file, "target_scale", {shape.outputs});
  }
  stored.predicts = value_named<Predicts>(about.value("predicts", "nodes"), kEnumNames<Predicts>,
                                          "kind of prediction");
  stored.link_task = about.value("link_task", json::object());
  require(shape.links == (stored.predicts != Predicts::kNodes) &&
              stored.predicts != Predicts::kAuto && stored.link_task.is_object(),
          path, ": the description of the model is damaged");
  if (shape.links) {
    const int64_t attributes = shape.target_attributes;
    stored.target_attribute_mean = get_finite(file, "scaling.target_mean", {attributes});
    stored.target_attribute_scale = get_finite(file, "scaling.target_scale", {attributes});
    stored.target_names = get_column_names(file, "target_attribute_names", attributes);
  }
  const bool ranks =
      stored.predicts == Predicts::kLinkPrediction || stored.predicts == Predicts::kEmbedding;
  stored.label_names = get_column_names(file, "label_names", ranks ? 0 : shape.outputs);
  stored.separate_directions = about.at("separate_directions").get<bool>();
  stored.degree_features = about.at("degree_features").get<bool>();
  stored.learned = get_learned(file, about.value("learned", json()));
  stored.label_inputs = about.value("label_inputs", false);
  stored.common_neighbors = about.value("common_neighbors", false);
  const int64_t own_features = shape.node_features - stored.added().all();
  const int64_t own_attributes = shape.link_attributes - (stored.common_neighbors ? 1 : 0);
  require(own_features >= 0 && own_attributes >= 0 &&
              !(shape.links && (stored.label_inputs || stored.common_neighbors)),
          path, ": the description of the model is damaged");
  stored.feature_names = get_column_names(file, "node_feature_names", shape.node_features);
  stored.attribute_names = get_column_names(file, "link_attribute_names", shape.link_attributes);
  stored.options = model_option_table().from_json(about.at("options"));
  stored.node_reduction = get_reduction(file, "node_reduction", own_features);
  stored.link_reduction = get_reduction(file, "link_reduction", own_attributes);
  if (about.contains("decision")) {
    stored.decision = decision_from(about.at("decision"));
    const auto size = std::ssize(stored.decision.offset);
    const double temperature = stored.decision.temperature;
    require(stored.decision.positive < shape.outputs && (size == 0 || size == shape.outputs) &&
                temperature > 0 && std::isfinite(temperature),
            path, ": the description of the model is damaged");
  }
  stored.preprocessing = about.value("preprocessing", json::object());
  stored.training = about.at("training");
  require(is_training(stored.training) && stored.preprocessing.is_object(), path,
          ": the description of the model is damaged");
  return stored;
} catch (const OptionError& error) {
  fail(path, ": ", error.what());
} catch (const json::exception&) {
  fail(path, ": the description of the model is damaged");
}

}  // namespace lase
