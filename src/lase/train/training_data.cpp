#include "lase/train/training_data.h"

#include <algorithm>
#include <array>

#include "lase/base/error.h"
#include "lase/graph/common_neighbors.h"
#include "lase/model/label_inputs.h"
#include "lase/model/layers/registry.h"
#include "lase/model/model.h"

namespace lase {
namespace {

// Learns features from the links that training may use; other nodes join with all their links,
// unless these are to be predicted.
LearnedFeatures learn(Graph graph, const Adjacency& train_graph, const TrainOptions& options) {
  FeatureOptions wanted = options.features;
  const bool links = predicts_links(options.predicts);
  if (links) graph.adjacency() = train_graph;
  const auto visible = visible_nodes(graph, links ? TrainingLinks::kAll : training_links(options));
  wanted.online = std::find(visible.begin(), visible.end(), false) != visible.end();
  wanted.embed.seed = options.seed;
  wanted.embed.stop = options.stop;
  if (options.feature_progress) {
    wanted.embed.progress = [&](double fraction, double) { options.feature_progress(fraction); };
  }
  LearnedFeatures learned = learn_features(graph, visible, wanted);
  learned.options.progress = {};
  learned.options.stop = nullptr;
  if (learned.embedding.stopped) throw Stopped();
  return learned;
}

void add_degree_features(TrainingData& data) {
  Nodes& nodes = data.graph.nodes;
  if (predicts_links(data.trained.predicts)) {
    nodes.features = constant_feature(data.graph.node_count());
    nodes.feature_names = make_string_table(std::array{"constant"});
  } else {
    nodes.features = degree_features(data.graph);
    nodes.feature_names = make_string_table(std::array{"constant", "log degree"});
  }
  data.trained.degree_features = true;
}

// Fits the scaling of all inputs to training data.
Scaling fit(const TrainingData& data, NodeScaling nodes) {
  const bool links = predicts_links(data.trained.predicts);
  Graph visible = data.graph;
  visible.adjacency() = data.protocol.train_graph;
  const std::vector<bool> all(static_cast<size_t>(visible.node_count()), true);
  Scaling scaling =
      fit_scaling(visible, links ? all : training_nodes(data.graph), nodes, data.trained.added());
  if (links) fit_target_scaling(data.graph.targets, data.protocol.train, scaling);
  return scaling;
}

// The options with the decoder in place of kAuto.
ModelOptions with_decoder(ModelOptions options, Predicts predicts, const LinkTargets& targets) {
  if (options.decoder != DecoderChoice::kAuto || !predicts_links(predicts)) return options;
  options.decoder = DecoderChoice::kMlp;
  if (predicts == Predicts::kEmbedding) options.decoder = DecoderChoice::kDot;
  if (predicts == Predicts::kLinkPrediction && targets.relations) {
    options.decoder = DecoderChoice::kBilinear;
  }
  return options;
}

// Pairs to sample negative links from, if given.
NodePairs negatives_of(const TrainingData& data, const TrainOptions& options) {
  const LinkPredictionOptions& prediction = options.links.prediction;
  if (prediction.negative_file.empty()) return {};
  require_option(
      options.predicts == Predicts::kLinkPrediction || options.predicts == Predicts::kEmbedding,
      OptionName{"negative_file"}, ": has no effect unless links are predicted");
  require_option(prediction.sampling == NegativeSampling::kUniform, OptionName{"negative_file"},
                 " and ", OptionName{"negative_sampling"}, " are mutually exclusive");
  NodePairs pairs = read_node_pairs(prediction.negative_file, data.graph.nodes.names);
  const Adjacency& graph = data.protocol.train_graph;
  bool any = false;  // is not linked
  for (size_t i = 0; i < pairs.source.size() && !any; ++i) {
    const auto* row = graph.neighbor.data();
    any = !std::binary_search(row + graph.row_ptr[pairs.source[i]],
                              row + graph.row_ptr[pairs.source[i] + 1], pairs.target[i]);
  }
  require(any, prediction.negative_file,
          ": all pairs are linked in the training data; expected pairs that are not linked");
  return pairs;
}

// Fits the objective to the training seeds, and describes what the model is to predict.
void fit_objective(TrainingData& data, const TrainOptions& options) {
  Objective& objective = *data.objective;
  objective.fit(data.protocol.train, options.balance);
  objective.set_decision(objective.select(options.select, data.protocol.train));
  data.trained.task = objective.labels().task;
  data.trained.label_names = objective.labels().names;
  data.trained.target_mean = objective.target_scale().mean;
  data.trained.target_scale = objective.target_scale().scale;
}

void describe_graph(const TrainingData& data, TrainedModel& trained) {
  const Graph& graph = data.graph;
  trained.target_names = graph.targets.attribute_names;
  trained.feature_names = graph.nodes.feature_names;
  trained.attribute_names = graph.attribute_names;
  trained.separate_directions = graph.separate_directions;
  trained.preprocessing = graph.preprocessing;
  trained.preprocessing.erase("idf");  // one number per word
  trained.node_reduction = graph.node_reduction;
  trained.link_reduction = graph.link_reduction;
}

void check_calibration(const TrainingData& data) {
  const std::string_view seeds = predicts_links(data.trained.predicts) ? "links" : "nodes";
  require_option(data.objective->has_probabilities(), OptionName{"calibrate"},
                 ": the task has no classes, so that there are no probabilities to calibrate");
  require_option(!data.protocol.val.empty(), OptionName{"calibrate"},
                 ": the graph has no validation ", seeds, " to fit the temperature on");
}

}  // namespace

int64_t TrainingData::batch_size(int64_t batch) const {
  const auto all = std::ssize(protocol.train);
  const int64_t most = std::min(all, seeds->most_hidden(all));
  return batch == 0 ? most : std::min(batch, most);
}

std::unique_ptr<TrainingData> prepare_training(const Graph& graph, const TrainOptions& options,
                                               LearnedFeatures learned) {
  auto prepared = std::make_unique<TrainingData>();
  TrainingData& data = *prepared;
  data.graph = graph;
  data.trained.predicts = options.predicts;
  const bool links = predicts_links(options.predicts);
  data.objective = make_objective(graph, options.predicts, Ranking::kAuto);
  const bool alone = !layer_type(options.model.model).make;
  data.protocol = links ? make_link_protocol(graph, options.predicts, *data.objective)
                        : make_protocol(graph, *data.objective, training_links(options), alone);
  fit_objective(data, options);
  if (options.calibrate) check_calibration(data);
  if (options.features.embed.method != EmbedMethod::kNone) {
    data.trained.learned =
        learned.present() ? std::move(learned) : learn(graph, data.protocol.train_graph, options);
    add_features(data.trained.learned, data.graph);
  }
  if (data.graph.nodes.features.columns == 0) add_degree_features(data);
  data.trained.label_inputs = !links && options.label_inputs == LabelInputs::kOn;
  if (data.trained.label_inputs) {
    require_option(!alone, OptionName{"label_inputs"},
                   " on: has no effect on a model that does not use links");
    add_label_inputs(data.trained, data.graph);
  }
  data.trained.common_neighbors = !links && options.common_neighbors == CommonNeighbors::kOn;
  if (data.trained.common_neighbors) {
    require_option(layer_type(options.model.model).reads_links, OptionName{"common_neighbors"},
                   " on: has no effect on a model that does not read link attributes");
    add_common_neighbors(data.graph);
  }
  data.trained.scaling = fit(data, options.node_scaling);
  data.inputs.emplace(data.graph, data.trained.scaling);
  const ModelShape shape{.node_features = data.graph.nodes.features.columns,
                         .link_attributes = data.graph.link_attributes.columns,
                         .outputs = data.objective->outputs(),
                         .links = links,
                         .target_attributes = links ? data.graph.targets.attributes.columns : 0,
                         .symmetric = links && is_symmetric(graph, options.predicts)};
  const ModelOptions model = with_decoder(options.model, options.predicts, graph.targets);
  data.trained.model = std::make_shared<Model>(model, shape, options.seed);
  LinkTaskOptions task = options.links;
  require_option(options.predicts != Predicts::kLinks || task.prediction.ranking == Ranking::kAuto,
                 OptionName{"ranking"}, ": has no effect unless links are predicted");
  if (links) {
    const auto evaluated = std::max(std::ssize(data.protocol.val), std::ssize(data.protocol.test));
    task.prediction.ranking = ranking_for(task.prediction.ranking, *data.trained.model->decoder(),
                                          graph.node_count(), evaluated);
    data.trained.link_task = link_task_option_table().to_json(task);
    data.trained.link_task["seed"] = options.seed;
    data.objective = make_objective(graph, options.predicts, task.prediction.ranking);
    fit_objective(data, options);
  }
  data.seeds = make_seeds(data.graph, options.predicts, *data.trained.model, task.prediction,
                          options.seed, negatives_of(data, options));
  if (data.trained.label_inputs) data.seeds = std::make_unique<NodeSeeds>(true);
  describe_graph(data, data.trained);
  data.device = choose_device(options.device, graph.links);
  data.inputs = data.inputs->to(data.device, data.protocol.train_graph,
                                choose_memory(options.device, data.device));
  data.trained.model->parameters().to(data.device);
  return prepared;
}

std::unique_ptr<TrainingData> prepare_training(const DividedGraph& graph,
                                               const TrainOptions& options) {
  auto prepared = std::make_unique<TrainingData>();
  TrainingData& data = *prepared;
  data.graph = graph.own();
  data.trained.predicts = Predicts::kNodes;
  const Graph& nodes = graph.whole().graph;
  data.objective = make_objective(nodes, Predicts::kNodes, Ranking::kAuto);
  data.divided = std::make_unique<DividedTraining>(graph, training_links(options));
  const bool alone = !layer_type(options.model.model).make;
  data.protocol = data.divided->protocol(*data.objective, alone);
  fit_objective(data, options);
  if (options.calibrate) check_calibration(data);
  if (data.graph.nodes.features.columns == 0) add_degree_features(data);
  Graph visible = data.graph;
  visible.adjacency() = data.divided->train_arcs();
  const std::vector<bool> all_training = training_nodes(nodes);
  std::vector<bool> training;
  for (const int32_t node : graph.own_nodes()) {
    training.push_back(all_training[static_cast<size_t>(node)]);
  }
  data.trained.scaling =
      fit_scaling(visible, training, options.node_scaling, {}, &processes_or_alone());
  data.inputs.emplace(data.graph, data.trained.scaling);
  const ModelShape shape{.node_features = data.graph.nodes.features.columns,
                         .link_attributes = data.graph.link_attributes.columns,
                         .outputs = data.objective->outputs()};
  data.trained.model = std::make_shared<Model>(options.model, shape, options.seed);
  data.seeds = std::make_unique<NodeSeeds>();
  describe_graph(data, data.trained);
  return prepared;
}

}  // namespace lase
