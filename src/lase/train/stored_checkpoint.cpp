#include "lase/train/stored_checkpoint.h"

#include "lase/base/error.h"
#include "lase/base/json.h"
#include "lase/base/lase_file.h"

namespace lase {
namespace {

using nlohmann::json;

void check_intact(bool intact, const std::string& path) {
  require(intact, path, ": the description of the checkpoint is damaged");
}

// A point of the learning curve. JSON stores NaN and infinity as null.
json point_from(json point, const std::string& path) {
  check_intact(non_negative_at(point, "epoch") >= 0 && point.at("loss").is_number(), path);
  if (!point.contains("val")) return point;
  json& val = point["val"];
  if (val.is_null()) val = std::numeric_limits<double>::quiet_NaN();
  check_intact(val.is_number(), path);
  return point;
}

// Throws Error if a run of `epochs` epochs cannot have made this progress.
Progress progress_from(const json& about, int64_t epochs, const std::string& path) {
  const json& best = about.at("best");
  const json& rate = about.at("learning_rate");
  const json& curve = about.at("curve");
  Progress progress{
      .best = {.epoch = non_negative_at(best, "epoch"), .validated = best.contains("score")},
      .learning_rate = {.factor = rate.at("factor").get<double>(),
                        .since_change = non_negative_at(rate, "since_change")}};
  if (progress.best.validated) {
    progress.best.score = best.at("score").get<double>();
    progress.best.loss = best.at("loss").get<double>();
  }
  const auto counts = [&](int64_t value) { return value >= 0 && value <= epochs; };
  check_intact(curve.is_array() && counts(progress.best.epoch) &&
                   counts(progress.learning_rate.since_change),
               path);
  if (about.contains("eval_every")) progress.eval_every = non_negative_at(about, "eval_every");
  check_intact(progress.eval_every >= 0, path);
  for (const json& point : curve) progress.curve.push_back(point_from(point, path));
  return progress;
}

}  // namespace

json to_json(const Progress& progress) {
  json best = {{"epoch", progress.best.epoch}};
  if (progress.best.validated) {
    best.update({{"score", progress.best.score}, {"loss", progress.best.loss}});
  }
  const auto& rate = progress.learning_rate;
  json all = {{"curve", progress.curve},
              {"best", best},
              {"learning_rate", {{"factor", rate.factor}, {"since_change", rate.since_change}}}};
  if (progress.batches_left > 0) all["batches_left"] = progress.batches_left;
  if (progress.eval_every > 0) all["eval_every"] = progress.eval_every;
  return all;
}

StoredCheckpoint read_checkpoint(const std::string& path,
                                 const std::map<std::string, std::vector<int64_t>>& shapes) try {
  const auto file = open_lase_file(path, kCheckpointFile);
  file.verify();
  const json about = file_description(file, kCheckpointFile);
  StoredCheckpoint stored;
  stored.epoch = non_negative_at(about, "epoch");
  stored.steps = non_negative_at(about, "steps");
  stored.options = about.at("options");
  check_intact(stored.epoch >= 0 && stored.steps >= 0 && stored.options.is_object() &&
                   (!stored.options.contains("graph") || stored.options["graph"].is_string()),
               path);
  const json& progress = about.at("progress");
  stored.progress = progress_from(progress, stored.epoch, path);
  const bool has_snapshot = about.at("has_snapshot").get<bool>();
  if (has_snapshot) {
    stored.progress.batches_left = non_negative_at(progress, "batches_left");
    check_intact(stored.progress.batches_left >= 0, path);
  }
  for (const std::string list : {"weight", "average", "best", "first", "second", "snapshot"}) {
    auto& arrays = stored.lists[list];
    if (list == "snapshot" && !has_snapshot) continue;
    for (const auto& [parameter, shape] : shapes) {
      arrays.emplace(parameter, file.get<float>(join(list, ".", parameter), shape));
    }
  }
  return stored;
} catch (const json::exception&) {
  fail(path, ": the description of the checkpoint is damaged");
}

}  // namespace lase
