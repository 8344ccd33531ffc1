#include "report/run_page.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <mutex>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/base/shuffle.h"
#include "lase/graph/pca.h"
#include "lase/inference/explain.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/model/model.h"

#include "report/page_text.h"
#include "report/tsne.h"

namespace lase {
namespace {

using nlohmann::json;

// Four significant digits keep the page small.
json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double digit = std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  return std::round(value / digit) * digit;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return text;
}

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

class Page {
 public:
  Page(const Graph& graph, const TrainResult& result, const RunPageOptions& options)
      : graph_(prepare_graph(result.trained, graph, options.title)),
        result_(result),
        options_(options),
        objective_(make_objective(result.trained, page_labels(result.trained, graph_))),
        labels_(objective_->labels()) {
    predictions_ = predict(result.trained, graph_);
    choose_nodes();
  }

  json data() {
    json page = head();
    page["curves"] = curves();
    add_scores(page);
    page["map"] = map();
    page["explanations"] = explanations();
    page["importance"] = importance();
    return page;
  }

 private:
  void tell(const std::string& step, double fraction) const {
    if (options_.progress) options_.progress(step, fraction);
  }
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  // All nodes, or a random sample of them if the graph is large.
  void choose_nodes() {
    const int64_t nodes = graph_.node_count();
    nodes_.resize(static_cast<size_t>(nodes));
    for (int64_t u = 0; u < nodes; ++u) nodes_[static_cast<size_t>(u)] = u;
    if (nodes <= options_.most_nodes) return;
    Random random(options_.seed);
    subsample(nodes_, static_cast<size_t>(options_.most_nodes), random);
    std::sort(nodes_.begin(), nodes_.end());
  }

  static std::string nodes_text(const Scores& scores) {
    return scores.nodes > 0 ? grouped(scores.nodes) + " nodes" : "";
  }

  json head() const {
    const auto headline = [&](const Scores& scores) {
      return scores.nodes > 0 ? rounded(objective_->headline(scores).value) : json();
    };
    json facts = {{"Nodes", grouped(graph_.node_count())},
                  {"Links", grouped(graph_.links)},
                  {"Node features", grouped(graph_.nodes.features.columns)},
                  {"Link attributes", grouped(graph_.link_attributes.columns)},
                  {"Validation", nodes_text(result_.val)},
                  {"Test", nodes_text(result_.test)},
                  {"Sampling", result_.sampling},
                  {"Epochs", std::to_string(result_.epochs)},
                  {"Training time", join(std::round(result_.seconds * 10) / 10, " s")}};
    json list = json::array();
    for (const char* name : {"Nodes", "Links", "Node features", "Link attributes", "Validation",
                             "Test", "Sampling", "Epochs", "Training time"}) {
      // A report on a model that was trained earlier knows less about the run.
      const bool timed = std::string_view(name) != "Training time" || result_.seconds > 0;
      if (!facts.at(name).get<std::string>().empty() && timed)
        list.push_back({name, facts.at(name)});
    }
    return {{"title", options_.title},
            {"model", result_.trained.model->type().title},
            {"created", today()},
            {"command", options_.command},
            {"facts", list},
            {"headline",
             {{"name", objective_->headline({}).title},
              {"val", headline(result_.val)},
              {"test", headline(result_.test)}}},
            {"options", options_.settings}};
  }

  json curves() const {
    if (options_.curve.empty()) return nullptr;
    json curves = {{"epoch", json::array()},
                   {"loss", json::array()},
                   {"val", json::array()},
                   {"val_name", objective_->headline({}).title},
                   {"best_epoch", result_.best_epoch}};
    for (const auto& point : options_.curve) {
      curves["epoch"].push_back(point.epoch);
      curves["loss"].push_back(rounded(point.loss));
      curves["val"].push_back(point.validated ? rounded(point.val) : json());
    }
    return curves;
  }

  void add_scores(json& page) const {
    const bool tested = result_.test.nodes > 0;
    const Scores& scores = tested ? result_.test : result_.val;
    if (scores.classes.empty()) return;
    json classes = json::array();
    std::vector<int64_t> shown;
    for (int64_t c = 0; c < std::ssize(scores.classes); ++c) {
      const auto& of_class = scores.classes[static_cast<size_t>(c)];
      if (of_class.support() + of_class.false_positives == 0) continue;
      shown.push_back(c);
      classes.push_back({{"name", label_name(c)},
                         {"precision", rounded(of_class.precision())},
                         {"recall", rounded(of_class.recall())},
                         {"f1", rounded(of_class.f1())},
                         {"nodes", of_class.support()}});
    }
    page["classes"] = classes;
    if (scores.confusion.empty()) return;
    keep_largest(shown, scores);
    json names = json::array();
    json rows = json::array();
    for (const int64_t label : shown) {
      names.push_back(label_name(label));
      json row = json::array();
      for (const int64_t predicted : shown) row.push_back(scores.confused(label, predicted));
      rows.push_back(row);
    }
    page["confusion"] = {{"split", tested ? "test" : "val"}, {"names", names}, {"rows", rows}};
  }

  // Keeps the classes with the most nodes, in order, if there are too many for a matrix.
  static void keep_largest(std::vector<int64_t>& classes, const Scores& scores) {
    constexpr size_t kMost = 200;
    if (classes.size() <= kMost) return;
    const auto nodes = [&](int64_t c) { return scores.classes[static_cast<size_t>(c)].support(); };
    std::stable_sort(classes.begin(), classes.end(),
                     [&](int64_t a, int64_t b) { return nodes(a) > nodes(b); });
    classes.resize(kMost);
    std::sort(classes.begin(), classes.end());
  }

  std::string label_name(int64_t label) const { return std::string(labels_.names[label]); }

  // Embeddings of the nodes on the map: [shown, width].
  std::vector<float> embedding_rows() const {
    const at::Tensor index =
        at::from_blob(const_cast<int64_t*>(nodes_.data()), {std::ssize(nodes_)}, at::kLong);
    const at::Tensor rows = predictions_.embedding.index_select(0, index).contiguous();
    const auto* data = rows.data_ptr<float>();
    return {data, data + rows.numel()};
  }

  static json layout(const std::string& name, const std::vector<float>& places) {
    json x = json::array();
    json y = json::array();
    for (size_t i = 0; i + 1 < places.size(); i += 2) {
      x.push_back(rounded(double{places[i]}));
      y.push_back(rounded(double{places[i + 1]}));
    }
    return {{"name", name}, {"x", x}, {"y", y}};
  }

  json map() {
    const int64_t shown = std::ssize(nodes_);
    const auto rows = embedding_rows();
    const int64_t width = shown == 0 ? 0 : std::ssize(rows) / shown;
    json layouts = json::array();
    if (shown > 3 && width > 1) {
      const auto matrix = Attributes::dense(rows, shown, width);
      std::vector<int64_t> all(static_cast<size_t>(shown));
      for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
      const int64_t components = std::min<int64_t>(width, 50);
      const Reduction fit = fit_pca(matrix, all, {.components = components});
      const Attributes reduced = reduce(matrix, fit);
      const auto [flat, start] = first_two(reduced);
      TsneOptions tsne_options{.start = start, .seed = options_.seed};
      tsne_options.stop = options_.stop;
      tsne_options.progress = [&](const TsneReport& report) {
        tell("computing the t-SNE map",
             static_cast<double>(report.iteration) / static_cast<double>(report.iterations));
      };
      layouts.push_back(
          layout("t-SNE", tsne(reduced.values.span(), shown, components, tsne_options)));
      layouts.push_back(layout("PCA", flat));
    }
    json names = json::array();
    json label = json::array();
    json predicted = json::array();
    json probability = json::array();
    json split = json::array();
    const bool single = !labels_.label.empty();
    for (const int64_t u : nodes_) {
      names.push_back(std::string(graph_.nodes.names[u]));
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
    json label_names = json::array();
    for (int64_t c = 0; c < labels_.names.size(); ++c) label_names.push_back(label_name(c));
    return {{"layouts", layouts},
            {"names", names},
            {"label", label},
            {"predicted", predicted},
            {"probability", probability},
            {"split", split},
            {"label_names", label_names},
            {"values", values()},
            {"of", graph_.node_count()}};
  }

  // Without one class per node, nodes are colored by value: the first target, or the probability of
  // the most frequent class.
  json values() const {
    if (result_.trained.task == Task::kSingleLabel) return nullptr;
    int64_t column = 0;
    const bool regression = result_.trained.task == Task::kRegression;
    if (!regression) {
      const Scores& scores = result_.test.nodes > 0 ? result_.test : result_.val;
      for (int64_t c = 0; c < std::min(objective_->outputs(), std::ssize(scores.classes)); ++c) {
        const auto at = [&](int64_t i) { return scores.classes[static_cast<size_t>(i)].support(); };
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

  // The first two principal components: unscaled as the PCA map, and scaled down to initialize
  // t-SNE.
  static std::pair<std::vector<float>, std::vector<float>> first_two(const Attributes& reduced) {
    std::vector<float> flat;
    float largest = 1e-12F;
    for (int64_t i = 0; i < reduced.rows; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        flat.push_back(reduced.values[i * reduced.columns + j]);
        largest = std::max(largest, std::abs(flat.back()));
      }
    }
    std::vector<float> start;
    for (const float x : flat) start.push_back(x / largest * 1e-2F);
    return {flat, start};
  }

  json explanations() {
    json all = json::array();
    for (size_t i = 0; i < nodes_.size(); ++i) all.push_back(nullptr);
    if (result_.trained.model->block_count() == 0) return all;
    const LastLayerExplainer explainer(result_.trained, graph_);
    std::mutex mutex;
    int64_t done = 0;
    parallel_for(std::ssize(nodes_), 16, [&](int64_t first, int64_t last) {
      if (stopped()) return;
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
      tell("explaining nodes", static_cast<double>(done) / static_cast<double>(nodes_.size()));
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
  std::vector<int64_t> nodes_;  // nodes on the map
  std::map<std::string, double> effect_of_;
};

}  // namespace

json run_page_data(const Graph& graph, const TrainResult& result, const RunPageOptions& options) {
  return Page(graph, result, options).data();
}

std::string run_page(const json& data) {
  // A literal "<" in the data, as in "</script>", could end the script element.
  std::string text;
  for (const char c : data.dump(-1, ' ', false, json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  constexpr std::string_view kPlaceholder = "@DATA@";
  const std::string_view page = page_text();
  const size_t at = page.find(kPlaceholder);
  require(at != std::string_view::npos, "the report page template does not contain ", kPlaceholder);
  return join(page.substr(0, at), text, page.substr(at + kPlaceholder.size()));
}

}  // namespace lase
