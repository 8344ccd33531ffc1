#include <cmath>
#include <ctime>
#include <string_view>
#include <utility>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/model/model.h"

#include "report/page_parts.h"

namespace lase::page {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &local);
  return text;
}

// Empty for labels of nodes, the usual task.
std::string task_of(const TrainedModel& trained) {
  switch (trained.predicts) {
    case Predicts::kLinks:
      return trained.task == Task::kRegression ? "link regression" : "link classification";
    case Predicts::kLinkPrediction:
      return "link prediction";
    case Predicts::kEmbedding:
      return "node embeddings";
    default:
      return "";
  }
}

json facts_of(const Run& run) {
  const TrainResult& result = run.result;
  const auto seeds = [&](const Scores& scores) {
    return scores.nodes > 0 ? join(grouped(scores.nodes), " ", run.seeds) : "";
  };
  // A report on a model that was trained earlier knows less about the run.
  const std::string time =
      result.seconds > 0 ? join(std::round(result.seconds * 10) / 10, " s") : "";
  const std::pair<const char*, std::string> all[] = {
      {"Task", task_of(result.trained)},
      {"Nodes", grouped(run.graph.node_count())},
      {"Links", grouped(run.graph.links)},
      {"Node features", grouped(run.graph.nodes.features.columns)},
      {"Link attributes", grouped(run.graph.link_attributes.columns)},
      {"Validation", seeds(result.val)},
      {"Test", seeds(result.test)},
      {"Sampling", result.sampling},
      {"Epochs", std::to_string(result.epochs)},
      {"Training time", time}};
  json facts = json::array();
  for (const auto& [name, value] : all) {
    if (!value.empty()) facts.push_back({name, value});
  }
  return facts;
}

}  // namespace

json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double digit = std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  return std::round(value / digit) * digit;
}

json rounded(const std::vector<double>& values) {
  json all = json::array();
  for (const double value : values) all.push_back(rounded(value));
  return all;
}

json names_of(const StringTable& names) {
  json all = json::array();
  for (int64_t c = 0; c < names.size(); ++c) all.push_back(std::string(names[c]));
  return all;
}

void tell(const RunPageOptions& options, const std::string& step, double fraction) {
  if (options.progress) options.progress(step, fraction);
}

json head(const Run& run) {
  const auto headline = [&](const Scores& scores) {
    return scores.nodes > 0 ? rounded(run.objective.headline(scores).value) : json();
  };
  return {{"title", run.options.title},
          {"model", run.result.trained.model->type().title},
          {"created", today()},
          {"command", run.options.command},
          {"facts", facts_of(run)},
          {"headline",
           {{"name", run.objective.headline({}).title},
            {"val", headline(run.result.val)},
            {"test", headline(run.result.test)}}},
          {"seeds", run.seeds},
          {"options", run.options.settings}};
}

json learning_curves(const Run& run) {
  if (run.options.curve.empty()) return nullptr;
  json curves = {{"epoch", json::array()},
                 {"loss", json::array()},
                 {"val", json::array()},
                 {"val_name", run.objective.headline({}).title},
                 {"best_epoch", nullptr}};
  for (const auto& point : run.options.curve) {
    if (point.validated) curves["best_epoch"] = run.result.best_epoch;
    curves["epoch"].push_back(point.epoch);
    curves["loss"].push_back(rounded(point.loss));
    curves["val"].push_back(point.validated ? rounded(point.val) : json());
  }
  return curves;
}

}  // namespace lase::page
