#include <algorithm>
#include <sstream>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/lase_file.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/describe.h"

namespace lase {
namespace {

using nlohmann::json;

json names_json(const SafetensorsFile& file, const std::string& name) {
  const StringTable table = get_strings(file, name);
  json names = json::array();
  for (int64_t i = 0; i < table.size(); ++i) names.push_back(std::string(table[i]));
  return names;
}

std::string list_text(const json& names) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i].get<std::string>();
  }
  if (names.size() > kShown) text += join(" and ", grouped(std::ssize(names) - 8), " more");
  return text;
}

}  // namespace

json describe_model_json(const std::string& path) try {
  const SafetensorsFile file = open_lase_file(path, kModelFile);
  file.verify();
  const json about = file_description(file, kModelFile);
  int64_t weights = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    if (!name.starts_with("weight.")) continue;
    int64_t size = 1;
    for (const int64_t extent : tensor.shape) size *= extent;
    weights += size;
  }
  const json& training = about.at("training");
  return {{"kind", "model"},
          {"model", about.at("options").at("model")},
          {"options", about.at("options")},
          {"weights", weights},
          {"predicts", about.value("predicts", "nodes")},
          {"task", about.at("task")},
          {"outputs", names_json(file, "label_names")},
          {"node_features", names_json(file, "node_feature_names")},
          {"link_attributes", names_json(file, "link_attribute_names")},
          {"separate_directions", about.at("separate_directions")},
          {"degree_features", about.at("degree_features")},
          {"learned_features", !about.value("learned", json()).is_null()},
          {"label_inputs", about.value("label_inputs", false)},
          {"common_neighbors", about.value("common_neighbors", false)},
          {"preprocessing", about.value("preprocessing", json::object())},
          {"decision", about.value("decision", json::object())},
          {"epochs", training.value("epochs", 0)},
          {"best_epoch", training.value("best_epoch", 0)},
          {"training", training.value("options", json::object())}};
} catch (const json::exception&) {
  fail(path, ": the description of the model is damaged");
}

std::string describe_model_text(const json& about) {
  std::ostringstream out;
  const json& options = about["options"];
  out << "model            " << about["model"].get<std::string>() << ", widths "
      << options.value("widths", json::array()).dump() << ", "
      << grouped(about["weights"].get<int64_t>()) << " weights\n";
  const std::string predicts = about["predicts"].get<std::string>();
  const bool labels = !about["outputs"].empty();
  out << "task             "
      << (labels ? join(about["task"].get<std::string>(), predicts == "links" ? ", of links" : "")
                 : predicts)
      << "\n";
  if (labels) {
    out << "outputs          " << about["outputs"].size() << ": " << list_text(about["outputs"])
        << "\n";
  }
  out << "node features    " << grouped(std::ssize(about["node_features"]))
      << (about["degree_features"] == true && predicts == "nodes" ? ", from degrees" : "")
      << (about["learned_features"] == true ? ", with features learned from links" : "")
      << (about["label_inputs"] == true ? ", with known labels" : "");
  if (!about["node_features"].empty()) out << ": " << list_text(about["node_features"]);
  out << "\nlink attributes  " << grouped(std::ssize(about["link_attributes"]))
      << (about["separate_directions"] == true ? ", separate per direction" : "")
      << (about["common_neighbors"] == true ? ", with common neighbors" : "");
  if (!about["link_attributes"].empty()) out << ": " << list_text(about["link_attributes"]);
  const json& preprocessing = about["preprocessing"];
  if (preprocessing.contains("slices_by")) {
    out << "\ntime slices      by " << preprocessing["slices_by"].get<std::string>();
  }
  out << "\nepochs           " << about["epochs"] << ", best " << about["best_epoch"];
  const std::string metric = about["decision"].value("metric", "");
  if (!metric.empty()) out << " by " << metric;
  out << "\n";
  const json& training = about["training"];
  std::string settings;
  for (const auto& [name, value] : training.items()) {
    settings += join(settings.empty() ? "" : ", ", name, " ",
                     value.is_string() ? value.get<std::string>() : value.dump());
  }
  out << "training         " << settings << "\n";
  return out.str();
}

}  // namespace lase
