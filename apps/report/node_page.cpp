#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "lase/base/parallel.h"
#include "lase/inference/explain.h"
#include "lase/inference/predict.h"
#include "lase/model/model.h"
#include "lase/sampler/sampler.h"

#include "report/page_parts.h"

namespace lase::page {
namespace {

// The labels of the graph with the class numbers of the model; unknown if it has none.
Labels page_labels(const TrainedModel& trained, const Graph& graph) {
  if (graph.nodes.labels.task != Task::kNone) return labels_as_trained(trained, graph.nodes.labels);
  Labels labels{.task = trained.task, .label = {}, .target = {}, .names = trained.label_names};
  const auto nodes = static_cast<size_t>(graph.node_count());
  if (trained.task == Task::kSingleLabel) {
    labels.label = std::vector<int32_t>(nodes, -1);
  } else {
    labels.target = std::vector<float>(nodes * static_cast<size_t>(labels.classes()),
                                       std::numeric_limits<float>::quiet_NaN());
  }
  return labels;
}

class NodePage {
 public:
  NodePage(const Graph& graph, const TrainResult& result, const RunPageOptions& options)
      : graph_(prepare_graph(result.trained, graph, options.title)),
        result_(result),
        options_(options),
        objective_(make_objective(result.trained, page_labels(result.trained, graph_))),
        labels_(objective_->labels()),
        predictions_(predict(result.trained, graph_)),
        nodes_(nodes_on_map(graph_, options)) {}

  json data() {
    const Run run{graph_, result_, *objective_, options_};
    json page = head(run);
    page["curves"] = learning_curves(run);
    add_evaluated(page);
    page["map"] = map();
    page["explanations"] = explanations();
    page["importance"] = importance();
    return page;
  }

 private:
  // Of test nodes, or else of validation nodes.
  void add_evaluated(json& page) {
    for (const Split split : {Split::kTest, Split::kVal}) {
      Evaluated evaluated{.split = split, .seeds = objective_->seeds(graph_, split)};
      if (evaluated.seeds.empty()) continue;
      evaluated.outputs = predictions_.outputs.index_select(0, index_of(evaluated.seeds));
      evaluated.scores = objective_->score(evaluated.outputs, evaluated.seeds);
      add_predictions(page, *objective_, evaluated,
                      [&](int64_t u) { return std::string(graph_.nodes.names[u]); });
      scores_ = evaluated.scores;
      return;
    }
  }

  std::string label_name(int64_t label) const { return std::string(labels_.names[label]); }

  json map() const {
    json label = json::array();
    json predicted = json::array();
    json probability = json::array();
    json split = json::array();
    const bool single = !labels_.label.empty();
    for (const int64_t u : nodes_) {
      label.push_back(single ? labels_.label[u] : -1);
      split.push_back(graph_.nodes.split.empty() ? 0 : graph_.nodes.split[u]);
      if (!single) {
        predicted.push_back(-1);
        probability.push_back(nullptr);
        continue;
      }
      const at::Tensor outputs = predictions_.outputs.slice(0, u, u + 1);
      const auto best = predicted_classes(result_.trained, outputs).item<int64_t>();
      const at::Tensor row = probabilities(result_.trained, outputs);
      predicted.push_back(best);
      probability.push_back(rounded(row[0][best].item<double>()));
    }
    json map = map_of(graph_, nodes_, predictions_.embedding, options_);
    map.update({{"label", label},
                {"predicted", predicted},
                {"probability", probability},
                {"split", split},
                {"label_names", names_of(labels_.names)},
                {"values", values()}});
    return map;
  }

  // Without one class per node, nodes are colored by value: the first target, or the probability of
  // the most frequent class.
  json values() const {
    if (result_.trained.task == Task::kSingleLabel) return nullptr;
    int64_t column = 0;
    const bool regression = result_.trained.task == Task::kRegression;
    if (!regression) {
      const auto& classes = scores_.classes;
      for (int64_t c = 0; c < std::min(objective_->outputs(), std::ssize(classes)); ++c) {
        const auto at = [&](int64_t i) { return classes[static_cast<size_t>(i)].support(); };
        if (at(c) > at(column)) column = c;
      }
    }
    json list = json::array();
    for (const int64_t u : nodes_) {
      const at::Tensor outputs = predictions_.outputs.slice(0, u, u + 1);
      const at::Tensor row = regression ? outputs : probabilities(result_.trained, outputs);
      list.push_back(rounded(row[0][column].item<double>()));
    }
    const std::string name = label_name(column);
    return {{"name", regression ? "Predicted " + name : "Probability of " + name}, {"list", list}};
  }

  json explanations() {
    json all = json::array();
    for (size_t i = 0; i < nodes_.size(); ++i) all.push_back(nullptr);
    if (result_.trained.model->block_count() == 0) return all;
    const LastLayerExplainer explainer(result_.trained, graph_);
    std::mutex mutex;
    int64_t done = 0;
    parallel_for(std::ssize(nodes_), 16, [&](int64_t first, int64_t last) {
      if (options_.stop != nullptr && options_.stop->load()) return;
      for (int64_t i = first; i < last; ++i) {
        const auto at = static_cast<size_t>(i);
        const Explanation explanation = explainer.explain(
            {.node = nodes_[at], .output = -1, .neighbors = 8, .attributes = 3, .exact = 32});
        json entry = entry_of(explanation);
        const std::lock_guard lock(mutex);
        for (const auto& neighbor : explanation.layers[0].neighbors) {
          for (const auto& attribute : neighbor.attributes) {
            effect_of_[attribute.name] += std::abs(attribute.effect);
          }
        }
        all[at] = std::move(entry);
      }
      const std::lock_guard lock(mutex);
      done += last - first;
      tell(options_, "explaining nodes",
           static_cast<double>(done) / static_cast<double>(nodes_.size()));
    });
    return all;
  }

  json entry_of(const Explanation& explanation) const {
    json shown = json::array();
    for (const auto& neighbor : explanation.layers[0].neighbors) {
      json attributes = json::array();
      for (const auto& attribute : neighbor.attributes) {
        attributes.push_back({{"name", attribute.name},
                              {"value", rounded(attribute.value)},
                              {"effect", rounded(attribute.effect)}});
      }
      json entry = {{"node", neighbor.name},
                    {"gate", rounded(neighbor.gate)},
                    {"effect", rounded(neighbor.effect)},
                    {"attributes", attributes}};
      if (!labels_.label.empty() && labels_.label[neighbor.node] >= 0) {
        entry["label"] = label_name(labels_.label[neighbor.node]);
      }
      shown.push_back(entry);
    }
    return {{"node", explanation.node},
            {"output", explanation.output},
            {"score", rounded(explanation.score)},
            {"probability", rounded(explanation.probability)},
            {"links", explanation.layers[0].links},
            {"shown", shown}};
  }

  json importance() const {
    if (effect_of_.empty()) return nullptr;
    std::vector<std::pair<double, std::string>> order;
    double total = 0;
    for (const auto& [name, effect] : effect_of_) {
      order.emplace_back(effect, name);
      total += effect;
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    constexpr size_t kMost = 40;
    order.resize(std::min(order.size(), kMost));
    json attributes = json::array();
    for (const auto& [effect, name] : order) {
      attributes.push_back({{"name", name}, {"value", rounded(total > 0 ? effect / total : 0)}});
    }
    return {
        {"measure",
         "Share of the total score change when one attribute of one link is set to zero, summed "
         "over the most influential links of every node on the map (last layer)."},
        {"attributes", attributes}};
  }

  Graph graph_;
  const TrainResult& result_;
  const RunPageOptions& options_;
  std::unique_ptr<Objective> objective_;
  const Labels& labels_;
  Predictions predictions_;
  std::vector<int64_t> nodes_;  // on the map
  Scores scores_;               // of the nodes of the page, if any have labels
  std::map<std::string, double> effect_of_;
};

}  // namespace

json node_page(const Graph& graph, const TrainResult& result, const RunPageOptions& options) {
  return NodePage(graph, result, options).data();
}

}  // namespace lase::page
