#include "lase/model/model_file.h"

#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>
#include <cstring>
#include <limits>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/safetensors.h"
#include "lase/graph/pca.h"
#include "lase/inference/inference.h"

#include "torch_support.h"

namespace lase {
namespace {

TrainedModel trained_on(const Graph& graph, const std::string& architecture = "sage") {
  TrainedModel trained;
  const ModelOptions options{.model = architecture,
                             .widths = {5, 5},
                             .combine = CombineChoice::kAdd,
                             .amplifier = AmplifierChoice::kLinear,
                             .aggregate = ops::Aggregate::kMax,
                             .gate = false,
                             .depth = 2,
                             .dropout = 0.125,
                             .normalize = false};
  const ModelShape shape{.node_features = graph.nodes.features.columns,
                         .link_attributes = graph.link_attributes.columns,
                         .outputs = graph.nodes.labels.classes()};
  trained.model = std::make_shared<Model>(options, shape, 3);
  trained.scaling =
      fit_scaling(graph, std::vector<bool>(static_cast<size_t>(graph.node_count()), true),
                  NodeScaling::kStandard);
  trained.task = graph.nodes.labels.task;
  trained.label_names = graph.nodes.labels.names;
  trained.feature_names = graph.nodes.feature_names;
  trained.attribute_names = graph.attribute_names;
  trained.separate_directions = graph.separate_directions;
  trained.node_reduction = graph.node_reduction;
  trained.link_reduction = graph.link_reduction;
  trained.training = {{"curve", {1, 2}}};
  return trained;
}

at::Tensor logits(const TrainedModel& trained, const Graph& graph) {
  return infer(*trained.model, Inputs(graph, trained.scaling), graph).logits;
}

class ModelFile : public FolderTest {};

TEST_F(ModelFile, ReproducesTheOutputsBitForBit) {
  for (const char* architecture : {"sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"}) {
    const Graph graph = toy_graph({.layout = Layout::kDictionary});
    const TrainedModel trained = trained_on(graph, architecture);
    save_model(trained, path("m.model"));
    const TrainedModel loaded = load_model(path("m.model"));
    expect_same_weights(*loaded.model, *trained.model);
    expect_same_bits(logits(loaded, graph), logits(trained, graph), "logits");
    EXPECT_EQ(to_json(loaded.model->options()), to_json(trained.model->options()));
    EXPECT_EQ(texts(loaded.label_names), texts(trained.label_names));
    EXPECT_EQ(texts(loaded.feature_names), texts(trained.feature_names));
    EXPECT_EQ(texts(loaded.attribute_names), texts(trained.attribute_names));
    EXPECT_EQ(loaded.task, trained.task);
    EXPECT_EQ(loaded.training, trained.training);
  }
}

TEST_F(ModelFile, StoresOptionsReductionsAndTargets) {
  Graph graph = toy_graph({.features = 5, .attributes = 4});
  reduce_nodes(graph, {.components = 3});
  reduce_links(graph, {.components = 2});
  TrainedModel trained = trained_on(graph);
  trained.task = Task::kRegression;
  trained.degree_features = true;
  trained.separate_directions = true;
  trained.scaling.nodes = NodeScaling::kRow;
  trained.target_mean = at::tensor({1.0F, 2.0F, 3.0F});
  trained.target_scale = at::tensor({4.0F, 5.0F, 6.0F});
  save_model(trained, path("m.model"));
  const TrainedModel loaded = load_model(path("m.model"));
  EXPECT_TRUE(loaded.degree_features);
  EXPECT_TRUE(loaded.separate_directions);
  EXPECT_EQ(loaded.scaling.nodes, NodeScaling::kRow);
  EXPECT_TRUE(at::equal(loaded.target_mean, trained.target_mean));
  EXPECT_TRUE(at::equal(loaded.target_scale, trained.target_scale));
  EXPECT_TRUE(
      std::ranges::equal(loaded.node_reduction.components, trained.node_reduction.components));
  EXPECT_TRUE(std::ranges::equal(loaded.link_reduction.mean, trained.link_reduction.mean));
  EXPECT_EQ(texts(loaded.link_reduction.names), texts(trained.link_reduction.names));
}

// Written when another default applied; without a projection, it has no effect.
TEST_F(ModelFile, MayHaveAnUnusedInputDropout) {
  TrainedModel trained = trained_on(toy_graph({}));
  ModelOptions options = trained.model->options();
  options.input_dropout = 0.25;
  trained.model = std::make_shared<Model>(options, trained.model->shape(), Parameters(3));
  save_model(trained, path("m.model"));
  EXPECT_EQ(load_model(path("m.model")).model->options().input_dropout, 0.25);
}

TEST_F(ModelFile, RejectsOtherFilesAndLaterVersions) {
  const Graph graph = toy_graph({});
  save_model(trained_on(graph), path("m.model"));
  const std::string text = read_file(path("m.model"));

  save_graph(graph, path("g.graph"));
  expect_error([&] { load_model(path("g.graph")); },
               {path("g.graph"), "is a lase graph, not a model"});
  expect_error([&] { load_model(path("missing")); }, {path("missing")});

  std::string later = text;
  const std::string version = "\"version\":\"3\"";
  ASSERT_NE(later.find(version), later.npos);
  later.replace(later.find(version), version.size(), "\"version\":\"4\"");
  const std::string file = write("later.model", later);
  expect_error([&] { load_model(file); }, {file, "version '4'", "reads version 3"});

  for (const size_t size : {text.size() - 1, text.size() / 2, size_t{100}, size_t{7}, size_t{0}}) {
    const std::string cut = write("cut.model", text.substr(0, size));
    expect_error([&] { load_model(cut); }, {cut});
  }
}

TEST_F(ModelFile, RejectsChangedBytes) {
  save_model(trained_on(toy_graph({})), path("m.model"));
  const std::string text = read_file(path("m.model"));
  uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  const size_t padding = text.substr(0, 8 + length).find_last_not_of(' ') + 1;
  const size_t key = text.find("checksums");  // without this key, a file has no checksums
  for (size_t i = 0; i < text.size(); i += 11) {
    if ((i >= padding && i < 8 + length) || (i >= key && i < key + 9)) continue;
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const std::string file = write("changed.model", changed);
    expect_error([&] { load_model(file); }, {file});
  }
}

// Only the header changes; the arrays stay the same.
TEST_F(ModelFile, RejectsADamagedDescription) {
  save_model(trained_on(toy_graph({})), path("m.model"));
  const std::string text = read_file(path("m.model"));
  const auto damaged = [&](const std::string& before, const std::string& after) {
    EXPECT_EQ(before.size(), after.size());
    std::string changed = text;
    const auto at = changed.find(before);
    EXPECT_NE(at, changed.npos) << before;
    if (at != changed.npos) changed.replace(at, before.size(), after);
    const std::string file = write("damaged.model", changed);
    expect_error([&] { load_model(file); }, {""});
  };
  damaged("\\\"widths\\\":[5,5]", "\\\"widths\\\":[5,6]");
  damaged("\\\"node_features\\\":4", "\\\"node_features\\\":5");
  damaged("\\\"outputs\\\":3", "\\\"outputs\\\":2");
  damaged("\\\"model\\\":\\\"sage\\\"", "\\\"model\\\":\\\"safe\\\"");
  damaged("\\\"task\\\":\\\"single-label\\\"", "\\\"task\\\":\\\"single_label\\\"");
  damaged("\\\"node_scaling\\\":\\\"standard\\\"", "\\\"node_scaling\\\":\\\"standart\\\"");
  damaged("\\\"widths\\\"", "\\\"wodths\\\"");
}

// Entries that are read again when a model is evaluated.
TEST_F(ModelFile, RejectsADamagedRecordOfTheTraining) {
  using nlohmann::json;
  TrainedModel trained = trained_on(toy_graph({}));
  for (const json& training : {json::array(), json{{"epochs", "many"}}, json{{"best_epoch", -1}}}) {
    trained.training = training;
    save_model(trained, path("m.model"));
    expect_error([&] { load_model(path("m.model")); },
                 {path("m.model"), "the description of the model is damaged"});
  }
}

// A flipped bit in an array of names: the file is rejected or the model loads.
TEST_F(ModelFile, SurvivesEveryFlippedBitInItsNames) {
  save_model(trained_on(toy_graph({})), path("m.model"));
  const std::string text = read_file(path("m.model"));
  const auto file = SafetensorsFile::open(path("m.model"));
  const std::byte* data = nullptr;  // start of the arrays
  size_t data_size = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    data_size += tensor.bytes.size();
    if (!tensor.bytes.empty() && (data == nullptr || tensor.bytes.data() < data)) {
      data = tensor.bytes.data();
    }
  }
  int rejected = 0;
  for (const char* name : {"label_names", "node_feature_names", "link_attribute_names"}) {
    const auto bytes = file.tensors().at(std::string(name) + ".offset").bytes;
    const size_t first = text.size() - data_size + static_cast<size_t>(bytes.data() - data);
    for (size_t at = first; at < first + bytes.size(); ++at) {
      for (const int bit : {0, 2, 7}) {
        std::string flipped = text;
        flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
        const std::string damaged = write("flipped.model", flipped);
        try {
          load_model(damaged);  // other boundaries between names
        } catch (const Error& error) {
          ++rejected;
          EXPECT_NE(std::string(error.what()).find(damaged), std::string::npos) << error.what();
        }
      }
    }
  }
  EXPECT_GT(rejected, 100);
}

TEST_F(ModelFile, RejectsInfiniteAndNaNValues) {
  for (const float value : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    for (const bool scale : {false, true}) {
      TrainedModel trained = trained_on(toy_graph({}));
      c10::NoGradGuard no_grad;
      at::Tensor& tensor =
          scale ? trained.scaling.link_scale : trained.model->parameters().all().front().second;
      tensor.view({-1})[0] = value;
      save_model(trained, path("m.model"));
      expect_error([&] { load_model(path("m.model")); }, {path("m.model"), "finite"});
    }
  }
}

TEST_F(ModelFile, ReportsAPathThatCannotBeWritten) {
  const TrainedModel trained = trained_on(toy_graph({}));
  expect_error([&] { save_model(trained, path("no/such/folder/m.model")); },
               {path("no/such/folder/m.model")});
}

TEST(PrepareGraph, ReportsHowAttributesDiffer) {
  const Graph graph = toy_graph({});
  const TrainedModel trained = trained_on(graph);
  const auto rejects = [&](const Graph& other, std::initializer_list<std::string> parts) {
    expect_error([&] { prepare_graph(trained, other, "new.graph"); }, parts);
  };
  EXPECT_NO_THROW(prepare_graph(trained, graph, "new.graph"));
  rejects(toy_graph({.features = 6}),
          {"new.graph", "6 node features", "trained on 4", "import the data with like"});
  rejects(toy_graph({.attributes = 2}), {"new.graph", "2 link attributes", "trained on 3"});
  rejects(toy_graph({.attributes = 0}), {"new.graph", "0 link attributes", "trained on 3"});
  Graph renamed = graph;
  renamed.attribute_names = make_string_table(Strings{"attribute 0", "amount", "attribute 2"});
  rejects(renamed, {"new.graph", "column 2", "link attributes", "'amount'", "'attribute 1'"});
  Graph separate = graph;
  separate.separate_directions = true;
  rejects(separate,
          {"new.graph", "separate attributes for each direction", "the same attributes in both"});
}

TEST(PrepareGraph, AddsDegreeFeaturesToNodesWithoutFeatures) {
  Graph bare = toy_graph({.features = 0});
  Graph graph = bare;
  graph.nodes.features = degree_features(graph);
  graph.nodes.feature_names = make_string_table(Strings{"constant", "log degree"});
  TrainedModel trained = trained_on(graph);
  trained.degree_features = true;
  const Graph fitted = prepare_graph(trained, bare, "bare.graph");
  EXPECT_EQ(to_rows(fitted.nodes.features), to_rows(degree_features(bare)));
  expect_error([&] { prepare_graph(trained, toy_graph({}), "new.graph"); }, {"4 node features"});
}

TEST(PrepareGraph, AppliesMissingReductions) {
  const Graph raw = toy_graph({.features = 5, .attributes = 4});
  Graph reduced = raw;
  reduce_nodes(reduced, {.components = 3});
  reduce_links(reduced, {.components = 2});
  const TrainedModel trained = trained_on(reduced);
  const Graph fitted = prepare_graph(trained, raw, "raw.graph");
  EXPECT_EQ(to_rows(fitted.nodes.features), to_rows(reduced.nodes.features));
  EXPECT_EQ(to_rows(fitted.link_attributes), to_rows(reduced.link_attributes));
  expect_same_bits(logits(trained, fitted), logits(trained, reduced), "logits");
  // A graph that is already reduced stays the same.
  const Graph again = prepare_graph(trained, reduced, "reduced.graph");
  EXPECT_EQ(to_rows(again.nodes.features), to_rows(reduced.nodes.features));
  Graph renamed = raw;
  renamed.nodes.feature_names = numbered_names("x", 5);
  expect_error([&] { prepare_graph(trained, renamed, "x.graph"); }, {"x.graph", "'x0'"});
}

TEST_F(ModelFile, KeepsTheTemperature) {
  TrainedModel trained = trained_on(toy_graph({}));
  trained.decision.temperature = 1.3125;
  save_model(trained, path("m.model"));
  EXPECT_EQ(load_model(path("m.model")).decision.temperature, 1.3125);
  // Earlier versions did not write it. Without checksums, the header can be changed.
  std::string text = read_file(path("m.model"));
  const auto rename = [&](const std::string& before, const std::string& after) {
    ASSERT_NE(text.find(before), text.npos) << before;
    text.replace(text.find(before), before.size(), after);
  };
  rename("\"checksums\"", "\"checksumz\"");
  rename("\\\"temperature\\\":1.3125", "\\\"temperatura\\\":1.3125");
  EXPECT_EQ(load_model(write("old.model", text)).decision.temperature, 1);
  rename("\\\"temperatura\\\":1.3125", "\\\"temperature\\\":-1.312");
  expect_error([&] { load_model(write("bad.model", text)); }, {"bad.model", "damaged"});
}

TEST_F(ModelFile, RefusesGraphsWithOtherTimeSlices) {
  Graph graph = toy_graph({});
  graph.preprocessing = {{"slices_by", "span"}, {"slice_boundaries", {0, 1, 2}}};
  TrainedModel trained = trained_on(graph);
  trained.preprocessing = graph.preprocessing;
  trained.decision = {.metric = "roc_auc", .positive = 1, .offset = {0, -1.5F, 0}};
  save_model(trained, path("m.model"));
  const TrainedModel loaded = load_model(path("m.model"));
  EXPECT_EQ(loaded.decision.metric, "roc_auc");
  EXPECT_EQ(loaded.decision.positive, 1);
  EXPECT_EQ(loaded.decision.offset, trained.decision.offset);
  EXPECT_NO_THROW(prepare_graph(loaded, graph, "g"));
  graph.preprocessing["slice_boundaries"] = {0, 1, 3};
  expect_error([&] { prepare_graph(loaded, graph, "g"); },
               {"g: was imported with other time slices"});
  graph.preprocessing["slice_boundaries"] = {0, 1, 2};
  graph.preprocessing["slices_by"] = "age";
  expect_error([&] { prepare_graph(loaded, graph, "g"); }, {"other time slices", "like"});
}

}  // namespace
}  // namespace lase
