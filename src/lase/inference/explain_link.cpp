#include "lase/inference/explain_link.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "lase/base/error.h"
#include "lase/graph/hidden_arcs.h"
#include "lase/inference/ego.h"
#include "lase/inference/link_task.h"
#include "lase/inference/predict_links.h"
#include "lase/ops/one_thread.h"
#include "lase/sampler/pair_statistics.h"

namespace lase {
namespace {

using at::Tensor;

// The pair of nodes to explain, with its row of the targets and its relation.
struct ExplainedPair {
  int64_t source = -1;
  int64_t target = -1;
  int64_t row = -1;       // −1: not a target
  int64_t relation = -1;  // column of the attributes; −1: links have no relations
};

// Finds the pair in the prepared graph of a predictor.
class PairFinder {
 public:
  PairFinder(const Graph& graph, Predicts predicts, const std::string& path)
      : graph_(graph),
        targets_(graph.targets),
        predicts_(predicts),
        symmetric_(is_symmetric(graph, predicts)),
        path_(path) {}

  ExplainedPair find(const ExplainLinkOptions& options) const {
    ExplainedPair pair{.source = options.source, .target = options.target, .row = options.row};
    if (!options.relation.empty()) pair.relation = relation_named(options.relation);
    if (pair.row >= 0) check_row(pair);
    if (pair.source < 0 && pair.row >= 0) {
      pair.source = targets_.source[pair.row];
      pair.target = targets_.target[pair.row];
    }
    check_nodes(pair);
    for (int64_t i = 0; i < targets_.size() && pair.row < 0; ++i) {
      if (joins(i, pair) && has_relation(i, pair.relation)) pair.row = i;
    }
    if (pair.row < 0) check_not_a_target(pair);
    if (targets_.relations && pair.relation < 0) pair.relation = relation_of(pair.row);
    return pair;
  }

 private:
  bool joins(int64_t row, const ExplainedPair& pair) const {
    const int64_t u = targets_.source[row];
    const int64_t v = targets_.target[row];
    return (u == pair.source && v == pair.target) ||
           (symmetric_ && v == pair.source && u == pair.target);
  }

  int64_t relation_of(int64_t row) const {
    int64_t relation = -1;
    targets_.attributes.for_each(row, [&](int64_t column, float value) {
      if (value != 0) relation = column;
    });
    return relation;
  }
  bool has_relation(int64_t row, int64_t relation) const {
    return relation < 0 || relation_of(row) == relation;
  }

  int64_t relation_named(const std::string& name) const {
    require_option(targets_.relations, OptionName{"relation"},
                   ": the links of the model have none");
    const StringTable& names = targets_.attribute_names;
    for (int64_t j = 0; j < names.size(); ++j) {
      if (names[j] == name) return j;
    }
    throw OptionError(
        join(OptionName{"relation"}, " ", quote(name), ": must be a relation of the graph"));
  }

  void check_row(const ExplainedPair& pair) const {
    require(pair.row < targets_.size(), path_, ": has no target link in row ", pair.row,
            "; it has ", targets_.size());
    require_option(pair.source < 0 || joins(pair.row, pair), OptionName{"row"}, " ", pair.row,
                   ": is a link from ", name(targets_.source[pair.row]), " to ",
                   name(targets_.target[pair.row]));
    require_option(has_relation(pair.row, pair.relation), OptionName{"row"}, " ", pair.row,
                   ": is a link of another relation");
  }

  void check_nodes(const ExplainedPair& pair) const {
    for (const int64_t node : {pair.source, pair.target}) {
      require(node >= 0 && node < graph_.node_count(), "node ", node,
              " does not exist; the graph has ", graph_.node_count(), " nodes");
    }
    require_option(pair.source != pair.target, OptionName{"target"}, " ", name(pair.target),
                   ": must differ from ", OptionName{"source"},
                   ", because links of a node to itself are not predicted");
  }

  void check_not_a_target(const ExplainedPair& pair) const {
    if (predicts_ != Predicts::kLinks) {
      require_option(!targets_.relations || pair.relation >= 0, OptionName{"relation"},
                     ": required, because links have relations, and there is none from ",
                     name(pair.source), " to ", name(pair.target));
      return;
    }
    const ExplainedPair reverse{.source = pair.target, .target = pair.source, .row = -1};
    bool reversed = false;
    for (int64_t i = 0; i < targets_.size() && !reversed; ++i) reversed = joins(i, reverse);
    fail(path_, ": has no link from ", name(pair.source), " to ", name(pair.target),
         pair.relation < 0 ? "" : " of this relation",
         reversed ? ", only in the other direction" : "");
  }

  std::string name(int64_t node) const { return quote(graph_.nodes.names[node]); }

  const Graph& graph_;
  const LinkTargets& targets_;
  Predicts predicts_;
  bool symmetric_;
  std::string path_;
};

// The links that pass messages when the pair is predicted. As LinkPredictor, hides those between
// the nodes of a training target, or of a target without a split.
Graph graph_of(const ExplainedPair& pair, const TrainedModel& trained, const Graph& prepared,
               const std::string& path) {
  const LinkTargets& targets = prepared.targets;
  const Split split = pair.row < 0 ? Split::kNone : static_cast<Split>(targets.split[pair.row]);
  Graph graph = prepared;
  graph.adjacency() = visible_links(prepared, split);
  graph = prepare_graph(trained, std::move(graph), path);
  if (pair.row < 0 || split == Split::kVal || split == Split::kTest) return graph;
  const auto row = static_cast<size_t>(pair.row);
  const HiddenArcs hidden(graph, std::span(targets.source).subspan(row, 1),
                          std::span(targets.target).subspan(row, 1));
  graph.adjacency() = visible_arcs(graph, hidden);
  return graph;
}

// What the decoder reads, for n variants of a link. A matrix with one row is the same in all.
struct DecoderInputs {
  Tensor source;      // h(u): [n, d] or [1, d]
  Tensor target;      // h(v): [n, d] or [1, d]
  Tensor attributes;  // f(e), not scaled: [n, k] or [1, k]
  Tensor statistics;  // s(u, v): [n, kPairStatistics] or [1, kPairStatistics]; undefined: not read
};

// Outputs of the variants: [n, outputs].
Tensor decode(const Network& network, const DecoderInputs& in) {
  const int64_t n = std::max({in.source.size(0), in.target.size(0), in.attributes.size(0),
                              in.statistics.defined() ? in.statistics.size(0) : 1});
  const auto rows = [n](const Tensor& x) {
    return x.size(0) == n ? at::arange(n, at::kLong) : at::zeros({n}, at::kLong);
  };
  Pairs pairs{.source = rows(in.source),
              .target = rows(in.target) + in.source.size(0),
              .link = {},
              .statistics = {}};
  LinkAttributes links = network.passes.inputs(0).targets();
  if (in.attributes.size(1) > 0) {
    links.f = {};
    links.f.rows = in.attributes.size(0);
    links.f.columns = in.attributes.size(1);
    links.f.values = in.attributes.contiguous();
    pairs.link = rows(in.attributes);
  }
  if (in.statistics.defined()) {
    pairs.statistics = in.statistics.expand({n, kPairStatistics}).contiguous();
  }
  const Tensor h = at::cat({in.source, in.target});
  return network.model().decoder()->forward(h, pairs, links, {});
}

// f(e) of the pair [1, k]; of a pair that is not a target, its relation.
Tensor attributes_of(const ExplainedPair& pair, const LinkTargets& targets) {
  Tensor values = at::zeros({1, targets.attributes.columns}, at::kFloat);
  if (pair.row >= 0) {
    targets.attributes.copy_row(pair.row, values.data_ptr<float>());
  } else if (pair.relation >= 0) {
    values[0][pair.relation] = 1;
  }
  return values;
}

// The mean statistics of target links [kPairStatistics], of at most 1,000 of them, evenly spaced.
Tensor mean_statistics(const Graph& graph, const LinkTargets& targets, bool symmetric) {
  constexpr int64_t kMost = 1000;
  const int64_t count = std::min(kMost, targets.size());
  if (count == 0) return at::zeros({kPairStatistics}, at::kFloat);
  std::vector<int32_t> source;
  std::vector<int32_t> target;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = i * targets.size() / count;
    source.push_back(targets.source[row]);
    target.push_back(targets.target[row]);
  }
  return pair_statistics({graph}, source, target, symmetric).mean(0);
}

// The columns of `values` [1, k] that differ from the baseline, [k] each, are replaced by it: one
// at a time [n, k], then all at once [1, k].
struct Replaced {
  std::vector<int64_t> columns;
  Tensor each;
  Tensor all;
};

Replaced replace(const Tensor& values, const Tensor& baseline) {
  Replaced replaced{.columns = {}, .each = {}, .all = baseline.unsqueeze(0)};
  std::vector<Tensor> rows;
  for (int64_t j = 0; j < values.size(1); ++j) {
    if (values[0][j].item<float>() == baseline[j].item<float>()) continue;
    replaced.columns.push_back(j);
    rows.push_back(values.clone());
    rows.back()[0][j] = baseline[j];
  }
  if (!rows.empty()) replaced.each = at::cat(rows);
  return replaced;
}

using ColumnName = std::function<std::string_view(int64_t column)>;

// Effects on one output of the inputs that `member` refers to.
InputEffects input_effects(const Network& network, const DecoderInputs& in,
                           Tensor DecoderInputs::*member, const Tensor& baseline, int64_t output,
                           const ColumnName& name) {
  const auto scores = [&](const Tensor& variants) {
    DecoderInputs changed = in;
    changed.*member = variants;
    return decode(network, changed).select(1, output).to(at::kDouble);
  };
  const Replaced replaced = replace(in.*member, baseline);
  InputEffects effects;
  if (replaced.columns.empty()) return effects;
  const Tensor score = scores(in.*member);
  effects.all = (score - scores(replaced.all)).item<double>();
  const Tensor each = score - scores(replaced.each);
  for (size_t i = 0; i < replaced.columns.size(); ++i) {
    const int64_t column = replaced.columns[i];
    effects.top.push_back({.name = std::string(name(column)),
                           .value = (in.*member)[0][column].item<double>(),
                           .effect = each[static_cast<int64_t>(i)].item<double>()});
  }
  std::stable_sort(effects.top.begin(), effects.top.end(), [](const auto& a, const auto& b) {
    return std::abs(a.effect) > std::abs(b.effect);
  });
  return effects;
}

}  // namespace

LinkExplanation explain_link(const TrainedModel& trained, const Graph& given,
                             const std::string& path, const ExplainLinkOptions& options) {
  const LinkPredictor predictor(trained, given, path);
  const LinkTargets& targets = predictor.graph().targets;
  const ExplainedPair pair = PairFinder(predictor.graph(), trained.predicts, path).find(options);
  const Graph graph = graph_of(pair, trained, predictor.graph(), path);
  const ops::OneThread one_thread;
  c10::NoGradGuard no_grad;
  const Network network(trained, graph);
  const bool symmetric = is_symmetric(graph, trained.predicts);

  DecoderInputs in;
  in.attributes = attributes_of(pair, targets);
  if (trained.model->decoder()->reads_statistics()) {
    const std::vector<int32_t> u = {static_cast<int32_t>(pair.source)};
    const std::vector<int32_t> v = {static_cast<int32_t>(pair.target)};
    in.statistics = pair_statistics({graph}, u, v, symmetric);
  }
  const auto with = [&](Tensor DecoderInputs::*member) {
    return [&network, &in, member](const Tensor& h) {
      DecoderInputs changed = in;
      changed.*member = h;
      return decode(network, changed);
    };
  };
  const Ego source(network, pair.source, with(&DecoderInputs::source));
  const Ego target(network, pair.target, with(&DecoderInputs::target));
  in.source = source.embedding();
  in.target = target.embedding();

  LinkExplanation explanation{.row = pair.row};
  ExplainOptions shown = options.shown;
  shown.node = pair.source;
  check(shown, graph);
  explanation.source = explain_ego(network, source, shown);
  shown.node = pair.target;
  explanation.target = explain_ego(network, target, shown);

  if (pair.relation >= 0) explanation.relation = targets.attribute_names[pair.relation];
  int64_t output = 0;
  while (trained.task != Task::kNone && trained.label_names[output] != explanation.source.output) {
    ++output;
  }
  const Tensor mean = targets.attributes.columns > 0 && trained.scaling.target_mean.defined() &&
                              targets.attributes.layout != Layout::kSparse
                          ? trained.scaling.target_mean
                          : at::zeros({targets.attributes.columns}, at::kFloat);
  explanation.attributes =
      input_effects(network, in, &DecoderInputs::attributes, mean, output,
                    [&](int64_t column) { return targets.attribute_names[column]; });
  auto& top = explanation.attributes.top;
  top.resize(std::min(top.size(), static_cast<size_t>(options.shown.features)));
  if (in.statistics.defined()) {
    const auto names = pair_statistic_names(symmetric);
    explanation.statistics = input_effects(
        network, in, &DecoderInputs::statistics, mean_statistics(graph, targets, symmetric), output,
        [&](int64_t column) { return names[static_cast<size_t>(column)]; });
  }
  return explanation;
}

}  // namespace lase
