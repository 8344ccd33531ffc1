#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "lase/inference/predict_links.h"
#include "lase/model/model.h"

#include "report/link_examples.h"
#include "report/page_parts.h"

namespace lase::page {
namespace {

std::vector<double> column(const at::Tensor& outputs, int64_t c) {
  const at::Tensor values = outputs.select(1, c).to(at::kDouble).contiguous();
  const auto* data = values.data_ptr<double>();
  return {data, data + values.numel()};
}

// The fraction of ranks of at most k, for each k, given ascending ranks.
json hits(const std::vector<double>& ranks, const std::vector<double>& k) {
  std::vector<double> fractions;
  for (const double most : k) {
    const auto below = std::upper_bound(ranks.begin(), ranks.end(), most) - ranks.begin();
    fractions.push_back(static_cast<double>(below) / static_cast<double>(ranks.size()));
  }
  return rounded(fractions);
}

// Hits@k as a function of k, about 20 values per power of ten up to the lowest rank.
json ranking_curves(const at::Tensor& outputs) {
  auto of_target = column(outputs, kTargetRank);
  auto of_source = column(outputs, kSourceRank);
  auto of_both = of_target;
  of_both.insert(of_both.end(), of_source.begin(), of_source.end());
  for (auto* ranks : {&of_target, &of_source, &of_both}) std::sort(ranks->begin(), ranks->end());
  std::vector<double> k = {1};
  while (k.back() < of_both.back()) {
    k.push_back(std::max(k.back() + 1, std::round(k.back() * std::pow(10, 1.0 / 20))));
  }
  return {{"k", k},
          {"target", hits(of_target, k)},
          {"source", hits(of_source, k)},
          {"both", hits(of_both, k)}};
}

// The fraction of values in each of `bins` equal intervals of [low, high]; values outside count to
// the first or the last one.
json histogram(std::span<const double> values, double low, double high, int64_t bins) {
  std::vector<double> fractions(static_cast<size_t>(bins));
  for (const double value : values) {
    const auto bin = static_cast<int64_t>(static_cast<double>(bins) * (value - low) / (high - low));
    fractions[static_cast<size_t>(std::clamp<int64_t>(bin, 0, bins - 1))] +=
        1 / static_cast<double>(values.size());
  }
  return rounded(fractions);
}

// Scores of links and of random pairs, without the outermost thousandth of either end.
json score_distribution(const at::Tensor& outputs) {
  const auto links = column(outputs, kLinkScore);
  const auto pairs = column(outputs, kRandomScore);
  auto all = links;
  all.insert(all.end(), pairs.begin(), pairs.end());
  std::sort(all.begin(), all.end());
  const size_t outer = all.size() / 1000;
  const double low = all[outer];
  double high = all[all.size() - 1 - outer];
  if (!(high > low)) high = low + 1;
  constexpr int64_t kBins = 40;
  return {{"low", rounded(low)},
          {"high", rounded(high)},
          {"links", histogram(links, low, high, kBins)},
          {"pairs", histogram(pairs, low, high, kBins)}};
}

class LinkPage {
 public:
  LinkPage(const Graph& graph, const TrainResult& result, const RunPageOptions& options)
      : predictor_(result.trained, graph, options.title),
        graph_(predictor_.graph()),
        result_(result),
        options_(options) {}

  json data() {
    tell(options_, "scoring links", 0);
    const std::optional<Evaluated> shown = evaluate_splits();
    const Run run{graph_, result_, predictor_.objective(), options_, "links"};
    json page = head(run);
    page["curves"] = learning_curves(run);
    if (shown) {
      add_predictions(page, predictor_.objective(), *shown,
                      [&](int64_t link) { return link_name(graph_, link); });
      if (ranks()) add_ranking(page, shown->outputs);
      page["examples"] = link_examples(predictor_, *shown);
    }
    page["map"] = map();
    return page;
  }

 private:
  bool ranks() const { return result_.trained.predicts != Predicts::kLinks; }

  std::optional<Evaluated> evaluate(Split split) const {
    const Objective& objective = predictor_.objective();
    const bool labeled = ranks() || graph_.targets.labels.task != Task::kNone;
    Evaluated evaluated{.split = split};
    if (labeled) evaluated.seeds = predictor_.links_of(split);
    if (evaluated.seeds.empty()) return std::nullopt;
    evaluated.outputs = predictor_.evaluate(evaluated.seeds, split).cpu();
    evaluated.scores = objective.score(evaluated.outputs, evaluated.seeds);
    return evaluated;
  }

  // Completes the scores of the run, and returns test links, or else validation links.
  std::optional<Evaluated> evaluate_splits() {
    std::optional<Evaluated> shown = evaluate(Split::kTest);
    if (shown) result_.test = shown->scores;
    if (shown && result_.val.nodes > 0) return shown;
    std::optional<Evaluated> val = evaluate(Split::kVal);
    if (val) result_.val = val->scores;
    return shown ? std::move(shown) : std::move(val);
  }

  void add_ranking(json& page, const at::Tensor& outputs) const {
    std::vector<Ranked> ranked;
    for (const double score : column(outputs, kLinkScore)) {
      ranked.push_back({static_cast<float>(score), true});
    }
    for (const double score : column(outputs, kRandomScore)) {
      ranked.push_back({static_cast<float>(score), false});
    }
    page["thresholds"] = json::array({threshold_curves("", std::move(ranked))});
    page["ranks"] = ranking_curves(outputs);
    page["ranks"]["protocol"] = result_.trained.link_task.value("ranking", "");
    page["distribution"] = score_distribution(outputs);
  }

  // Nodes are colored by their label, if they have one, and by degree.
  json map() const {
    const auto nodes = nodes_on_map(graph_, options_);
    json map = map_of(graph_, nodes, predictor_.embedding(), options_);
    const Labels& labels = graph_.nodes.labels;
    json label = json::array();
    json degree = json::array();
    for (const int64_t u : nodes) {
      if (!labels.label.empty()) label.push_back(labels.label[u]);
      degree.push_back(graph_.degree(u));
    }
    map.update({{"label", label},
                {"label_names", labels.label.empty() ? json::array() : names_of(labels.names)},
                {"values", {{"name", "Degree"}, {"list", degree}}}});
    return map;
  }

  LinkPredictor predictor_;
  const Graph& graph_;
  TrainResult result_;
  const RunPageOptions& options_;
};

}  // namespace

json link_page(const Graph& graph, const TrainResult& result, const RunPageOptions& options) {
  return LinkPage(graph, result, options).data();
}

}  // namespace lase::page
