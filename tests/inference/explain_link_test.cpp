#include "lase/inference/explain_link.h"

#include <algorithm>
#include <functional>

#include "lase/inference/link_task.h"
#include "lase/inference/predict_links.h"
#include "lase/train/trainer.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using Role = RandomLinks::Role;

// One layer: leaving a link out of it is the same as removing an arc from the graph.
struct ExplainedTask {
  Role role;
  DecoderChoice decoder;
  bool directed = false;

  Graph graph() const {
    return random_links({.nodes = 30,
                         .links = 90,
                         .categories = 3,
                         .directed = directed,
                         .repeated = true,
                         .role = role});
  }
  TrainedModel train(const Graph& given) const {
    TrainOptions options;
    options.model.widths = {6};
    options.model.decoder = decoder;
    options.features.embed.method = EmbedMethod::kNone;
    options.epochs = 3;
    options.links.split = "60/20/20";
    options.seed = 3;
    return lase::train(given, options).trained;
  }
};

const std::vector<ExplainedTask> kTasks = {{Role::kAttributes, DecoderChoice::kDot},
                                           {Role::kAttributes, DecoderChoice::kMlp},
                                           {Role::kAttributes, DecoderChoice::kBilinear, true},
                                           {Role::kRelations, DecoderChoice::kBilinear},
                                           {Role::kLabels, DecoderChoice::kMlp},
                                           {Role::kLabelsAndAttributes, DecoderChoice::kMlp, true}};

int64_t first_target(const LinkPredictor& predictor, Split split) {
  const auto links = targets_in(predictor.graph(), split);
  EXPECT_FALSE(links.empty());
  return links.front();
}

std::vector<const Explanation*> ends_of(const LinkExplanation& explanation) {
  return {&explanation.source, &explanation.target};
}

TEST(ExplainLink, ExplainsThePrediction) {
  for (const ExplainedTask& task : kTasks) {
    const Graph graph = task.graph();
    const TrainedModel trained = task.train(graph);
    const LinkPredictor predictor(trained, graph, "g");
    for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
      const int64_t row = first_target(predictor, split);
      const at::Tensor outputs = predictor.predict(std::vector<int64_t>{row})[0];
      for (int64_t output = 0; output < outputs.size(0); ++output) {
        const auto explanation =
            explain_link(trained, graph, "g", {.row = row, .shown = {.output = output}});
        EXPECT_EQ(explanation.row, row);
        for (const Explanation* end : ends_of(explanation)) {
          EXPECT_NEAR(end->score, outputs[output].item<double>(), 1e-5);
        }
      }
    }
  }
}

// Other links between the nodes would give a training target away.
TEST(ExplainLink, HidesTrainingTargets) {
  for (const ExplainedTask& task : kTasks) {
    const Graph graph = task.graph();
    const TrainedModel trained = task.train(graph);
    const LinkPredictor predictor(trained, graph, "g");
    const int64_t row = first_target(predictor, Split::kTrain);
    const auto explanation =
        explain_link(trained, graph, "g", {.row = row, .shown = {.neighbors = 1000}});
    for (const auto& [end, other] : {std::pair(&explanation.source, &explanation.target),
                                     std::pair(&explanation.target, &explanation.source)}) {
      for (const auto& layer : end->layers) {
        EXPECT_EQ(std::ssize(layer.neighbors), layer.links);
        for (const auto& neighbor : layer.neighbors) EXPECT_NE(neighbor.name, other->node);
      }
    }
  }
}

// The embeddings of a graph without the arc from u to v.
at::Tensor embedding_without(const TrainedModel& trained, const Graph& graph, int64_t u,
                             int64_t v) {
  Graph rest = graph;
  rest.adjacency() = filter_arcs(
      graph, [&](int64_t w, int64_t arc) { return w != u || graph.neighbor[arc] != v; });
  rest.link_split = {};
  return LinkPredictor(trained, rest, "g").embedding();
}

// Compares the effects for a pair that is not linked, which sees all links, with the scores of
// changed inputs.
TEST(ExplainLink, EffectsMatchChangedInputs) {
  for (const ExplainedTask& task : kTasks) {
    if (task.role == Role::kLabels || task.role == Role::kLabelsAndAttributes) continue;
    const Graph given = task.graph();
    const TrainedModel trained = task.train(given);
    const LinkPredictor predictor(trained, given, "g");
    const Graph& graph = predictor.graph();
    const bool relations = graph.targets.relations;
    const auto partner =
        predictor.partners(std::vector<int64_t>{4}, 1, relations ? "c1" : "").front();
    const auto explanation = explain_link(trained, given, "g",
                                          {.source = partner.source,
                                           .target = partner.target,
                                           .relation = relations ? "c1" : "",
                                           .shown = {.neighbors = 1000}});
    EXPECT_EQ(explanation.row, -1);
    EXPECT_NEAR(explanation.source.score, partner.score, 1e-5);

    const c10::NoGradGuard no_grad;
    const Inputs inputs(prepare_graph(trained, graph, "g"), trained.scaling);
    int64_t example = 0;
    while (relations && row(graph.targets.attributes, example)[1] == 0) ++example;
    Pairs pair{index_tensor({0}), index_tensor({1}), {}, {}};
    if (relations) pair.link = index_tensor({example});
    const bool statistics = trained.model->decoder()->reads_statistics();
    const bool symmetric = is_symmetric(graph, trained.predicts);
    if (statistics) {
      pair.statistics =
          pair_statistics({graph}, std::vector<int32_t>{static_cast<int32_t>(partner.source)},
                          std::vector<int32_t>{static_cast<int32_t>(partner.target)}, symmetric);
    }
    const auto score = [&](const at::Tensor& u, const at::Tensor& v, const Pairs& with) {
      return trained.model->outputs(inputs, at::stack({u, v}), &with, {}).item<double>();
    };
    const at::Tensor h = predictor.embedding();
    const at::Tensor hu = h[partner.source];
    const at::Tensor hv = h[partner.target];
    const double all = score(hu, hv, pair);
    EXPECT_NEAR(all, partner.score, 1e-5);
    int64_t compared = 0;
    for (const auto& neighbor : explanation.source.layers[0].neighbors) {
      const auto without = embedding_without(trained, graph, partner.source, neighbor.node);
      EXPECT_NEAR(neighbor.effect, all - score(without[partner.source], hv, pair), 1e-5);
      ++compared;
    }
    for (const auto& neighbor : explanation.target.layers[0].neighbors) {
      const auto without = embedding_without(trained, graph, partner.target, neighbor.node);
      EXPECT_NEAR(neighbor.effect, all - score(hu, without[partner.target], pair), 1e-5);
      ++compared;
    }
    EXPECT_GT(compared, 2);

    EXPECT_EQ(explanation.statistics.top.empty(), !statistics);
    const auto names = pair_statistic_names(symmetric);
    const LinkTargets& targets = predictor.graph().targets;
    const Tensor mean =
        pair_statistics({graph}, targets.source.span(), targets.target.span(), symmetric).mean(0);
    for (const auto& statistic : explanation.statistics.top) {
      const auto column = std::find(names.begin(), names.end(), statistic.name) - names.begin();
      Pairs zero = pair;
      zero.statistics = pair.statistics.clone();
      zero.statistics[0][column] = mean[column];
      EXPECT_NEAR(statistic.effect, all - score(hu, hv, zero), 1e-5) << statistic.name;
    }
    EXPECT_EQ(explanation.relation, relations ? "c1" : "");
    EXPECT_EQ(explanation.attributes.top.empty(), !relations);
  }
}

// The effect of an own attribute is that of its training mean in the table of targets.
TEST(ExplainLink, EffectsOfOwnAttributesMatchPredictions) {
  const ExplainedTask task{Role::kLabelsAndAttributes, DecoderChoice::kMlp, true};
  Graph graph = task.graph();
  prepare_links(graph, Predicts::kLinks, {}, 1);  // also the split of graphs with other attributes
  const TrainedModel trained = task.train(graph);
  const LinkPredictor predictor(trained, graph, "g");
  const std::vector<int64_t> link = {first_target(predictor, Split::kTest)};
  const auto explanation =
      explain_link(trained, graph, "g", {.row = link[0], .shown = {.output = 1}});
  const double score = predictor.predict(link)[0][1].item<double>();
  ASSERT_EQ(explanation.attributes.top.size(), 3);
  const bool sparse = graph.targets.attributes.layout == Layout::kSparse;
  for (const auto& attribute : explanation.attributes.top) {
    const int64_t columns = graph.targets.attributes.columns;
    Floats values;
    for (int64_t i = 0; i < graph.targets.size(); ++i) {
      const Floats own = row(graph.targets.attributes, i);
      values.insert(values.end(), own.begin(), own.end());
    }
    for (int64_t j = 0; j < columns; ++j) {
      if (graph.targets.attribute_names[j] != attribute.name) continue;
      values[static_cast<size_t>(link[0] * columns + j)] =
          sparse ? 0 : trained.scaling.target_mean[j].item<float>();
    }
    Graph changed = graph;
    changed.targets.attributes = Attributes::dense(values, graph.targets.size(), columns);
    const LinkPredictor other(trained, changed, "g");
    EXPECT_NEAR(attribute.effect, score - other.predict(link)[0][1].item<double>(), 1e-5);
  }
}

TEST(ExplainLink, RejectsLinksThatAreNotPredicted) {
  const ExplainedTask task{Role::kLabels, DecoderChoice::kMlp, true};
  const Graph graph = task.graph();
  const TrainedModel trained = task.train(graph);
  const auto rejects = [&](const ExplainLinkOptions& options,
                           std::initializer_list<std::string> parts) {
    expect_error([&] { explain_link(trained, graph, "g", options); }, parts);
  };
  rejects({.row = 100000}, {"g: has no target link in row 100000"});
  rejects({.source = 3, .target = 3}, {"target", "must differ"});
  rejects({.source = 3, .target = 1000}, {"node 1000"});
  const int64_t u = graph.targets.source[0];
  const int64_t v = graph.targets.target[0];
  rejects({.source = v, .target = u, .row = 0}, {"row 0: is a link from"});
  rejects({.source = u, .target = v, .relation = "c1"}, {"relation: the links of the model"});
  int64_t stranger = 0;
  const auto linked = [&](int64_t w) {
    for (int64_t i = 0; i < graph.targets.size(); ++i) {
      if (std::minmax<int64_t>(graph.targets.source[i], graph.targets.target[i]) ==
          std::minmax(u, w)) {
        return true;
      }
    }
    return w == u;
  };
  while (linked(stranger)) ++stranger;
  rejects({.source = u, .target = stranger}, {"g: has no link from"});

  const ExplainedTask relations{Role::kRelations, DecoderChoice::kBilinear};
  const Graph events = relations.graph();
  const TrainedModel predicts = relations.train(events);
  expect_error([&] { explain_link(predicts, events, "g", {.row = 0, .relation = "no"}); },
               {"relation 'no'"});
}

}  // namespace
}  // namespace lase
