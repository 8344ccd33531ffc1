#include "cli/report.h"

#include <cmath>
#include <filesystem>
#include <iostream>

#include "lase/base/file.h"
#include "lase/base/process_group.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/sampler/sampler.h"

#include "common/interrupt.h"
#include "report/run_page.h"

namespace {

// The learning curve, including the epochs before a resume.
std::vector<lase::CurvePoint> learning_curve(const nlohmann::json& training) {
  std::vector<lase::CurvePoint> curve;
  for (const auto& point : training.value("curve", nlohmann::json::array())) {
    curve.push_back({.epoch = point.at("epoch").get<int64_t>(),
                     .loss = point.at("loss").get<double>(),
                     .val = point.value("val", 0.0),
                     .validated = point.contains("val")});
  }
  return curve;
}

}  // namespace

void write_report(const Report& report, const lase::Graph& graph, const lase::TrainResult& result,
                  const Session& session) {
  if (!lase::is_first_process()) return;
  const lase::ProcessScope alone(nullptr);
  const auto& training = result.trained.training;
  lase::RunPageOptions page{.title = std::filesystem::path(report.graph_path).filename().string(),
                            .command = report.command,
                            .curve = learning_curve(training),
                            .settings = training.value("options", nlohmann::json::object()),
                            .seed = report.seed};
  if (report.live) {
    page.progress = [](const std::string& what, double fraction) {
      std::cerr << "\r\x1b[K" << what << " " << std::lround(100 * fraction) << "%" << std::flush;
    };
  }
  page.stop = &interrupted();
  const auto data = interrupted() ? nlohmann::json() : lase::run_page_data(graph, result, page);
  if (report.live) std::cerr << "\r\x1b[K";
  if (interrupted()) {
    std::cerr << "lase: interrupted; " << report.path << " was not written\n";
    return;
  }
  lase::write_file(report.path, lase::run_page(data));
  session.out() << "written          " << report.path << "\n";
}

lase::TrainResult run_of_model(const lase::TrainedModel& trained) {
  lase::TrainResult result;
  result.trained = trained;
  result.epochs = trained.training.value("epochs", int64_t{0});
  result.best_epoch = trained.training.value("best_epoch", int64_t{0});
  return result;
}

lase::TrainResult run_of_model(const lase::TrainedModel& trained, const lase::Graph& graph,
                               const at::Tensor& outputs) {
  lase::TrainResult result = run_of_model(trained);
  if (graph.nodes.labels.task != trained.task) return result;
  const auto objective =
      lase::make_objective(trained, lase::labels_as_trained(trained, graph.nodes.labels));
  const auto score = [&](lase::Split split) {
    const auto nodes = objective->seeds(graph, split);
    if (nodes.empty()) return lase::Scores();
    return objective->score(outputs.index_select(0, lase::index_of(nodes)), nodes);
  };
  result.val = score(lase::Split::kVal);
  result.test = score(lase::Split::kTest);
  return result;
}
