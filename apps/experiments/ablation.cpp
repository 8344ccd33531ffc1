#include <algorithm>

#include "lase/base/error.h"
#include "lase/base/format.h"

#include "experiments/compare.h"
#include "experiments/experiments.h"

namespace lase {
namespace {

struct Row {
  std::string title;
  std::string candidate;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"LASE", "lase"},
      {"without the amplifier", "lase: amplifier=none"},
      {"with a sigmoid as amplifier", "lase: amplifier=sigmoid"},
      {"without the gate", "lase: gate=none"},
      {"without link dropout", "lase: link_dropout=0"},
      {"states added, not concatenated", "lase: combine=add"},
      {"LASE-concat", "concat"},
      {"LASE-SAGE", "sage"},
      {"GraphSAGE", "graphsage"},
  };
  return all;
}

CompareOptions options_of(const Lab& lab, const ExperimentData& data) {
  const Effort effort = lab.effort(data.name);
  CompareOptions options{.models = {}, .variants = {}, .seeds = effort.curve_seeds};
  for (const auto& row : rows()) {
    (row.candidate.find(':') == row.candidate.npos ? options.models : options.variants)
        .push_back(row.candidate);
  }
  options.train = link_options(data, effort, 1);
  return options;
}

}  // namespace

Document ablation(Lab& lab) {
  Document document{
      .name = "ablation",
      .title = "Parts of the default model",
      .text =
          "Test scores of the default model, of the model without one of its parts, and of "
          "other models with their default options: micro-F1, or average precision for amlsim20k. "
          "Nodes have no features, except in the Heterogeneous Graph Benchmark (HGB), where they "
          "have types and words, without features learned from links. An asterisk marks "
          "differences from LASE with p < 0.05 in a paired t-test over seeds, on one split."};
  document.table.columns = {"model"};
  document.values.columns = {"data", "model", "seeds", "test", "test_error", "p", "metric"};
  for (const auto& row : rows()) document.table.rows.push_back({row.title});
  for (const auto& name : link_data_names()) {
    const auto* data = lab.data(name);
    if (data == nullptr) continue;
    const Comparison result = compare(data->graph, data->tag, options_of(lab, *data), lab.runner());
    document.table.columns.push_back(data->marked_title());
    for (size_t i = 0; i < rows().size(); ++i) {
      const auto& wanted = rows()[i].candidate;
      const auto found =
          std::find_if(result.models.begin(), result.models.end(),
                       [&](const auto& model) { return model.candidate.name == wanted; });
      require(found != result.models.end(), "the comparison lacks ", wanted);
      const bool differs = found != result.models.begin() && found->to_first.p.value_or(1) < 0.05;
      document.table.rows[i].push_back(score_text(found->test.mean, found->test.error) +
                                       (differs ? "*" : ""));
      document.values.rows.push_back({data->name, wanted, std::to_string(found->test.count),
                                      fixed(found->test.mean, 5), fixed(found->test.error, 5),
                                      fixed(found->to_first.p.value_or(1), 4),
                                      result.metric.title});
    }
  }
  return document;
}

}  // namespace lase
