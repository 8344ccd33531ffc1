#include "lase/train/training_data.h"

#include <algorithm>
#include <array>

#include "lase/base/error.h"
#include "lase/model/layers/registry.h"
#include "lase/model/model.h"

namespace lase {
namespace {

// Learns features from the links that training may use; other nodes join with all their links.
LearnedFeatures learn(const Graph& graph, const TrainOptions& options) {
  FeatureOptions wanted = options.features;
  const auto visible = visible_nodes(graph, training_links(options));
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
  data.graph.nodes.features = degree_features(data.graph);
  data.graph.nodes.feature_names = make_string_table(std::array{"constant", "log degree"});
  data.trained.degree_features = true;
}

void describe_graph(const TrainingData& data, TrainedModel& trained) {
  const Graph& graph = data.graph;
  trained.task = graph.nodes.labels.task;
  trained.label_names = graph.nodes.labels.names;
  trained.feature_names = graph.nodes.feature_names;
  trained.attribute_names = graph.attribute_names;
  trained.separate_directions = graph.separate_directions;
  trained.preprocessing = graph.preprocessing;
  trained.preprocessing.erase("idf");  // one number per word
  trained.node_reduction = graph.node_reduction;
  trained.link_reduction = graph.link_reduction;
  trained.target_mean = data.objective->target_scale().mean;
  trained.target_scale = data.objective->target_scale().scale;
}

}  // namespace

int64_t TrainingData::batch_size(int64_t batch) const {
  const auto all = std::ssize(protocol.train);
  return batch == 0 ? all : std::min<int64_t>(batch, all);
}

TrainingData prepare_training(const Graph& graph, const TrainOptions& options,
                              LearnedFeatures learned) {
  TrainingData data;
  data.graph = graph;
  data.objective = make_objective(graph.nodes.labels);
  const bool alone = !layer_type(options.model.model).make;
  data.protocol = make_protocol(graph, *data.objective, training_links(options), alone);
  if (options.features.embed.method != EmbedMethod::kNone) {
    data.trained.learned = learned.present() ? std::move(learned) : learn(graph, options);
    add_features(data.trained.learned, data.graph);
  }
  if (data.graph.nodes.features.columns == 0) add_degree_features(data);
  data.trained.scaling = fit_scaling(data.graph, training_nodes(data.graph), options.node_scaling,
                                     data.trained.learned.embedding.width());
  data.inputs.emplace(data.graph, data.trained.scaling);
  data.objective->fit(data.protocol.train, options.balance);
  data.objective->set_decision(data.objective->select(options.select, data.protocol.train));
  const ModelShape shape{.node_features = data.graph.nodes.features.columns,
                         .link_attributes = data.graph.link_attributes.columns,
                         .outputs = data.objective->outputs()};
  data.trained.model = std::make_shared<Model>(options.model, shape, options.seed);
  describe_graph(data, data.trained);
  return data;
}

}  // namespace lase
