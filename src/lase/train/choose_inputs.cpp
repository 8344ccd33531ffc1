#include "lase/train/choose_inputs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/inference/link_task.h"
#include "lase/inference/objective.h"
#include "lase/model/layers/registry.h"

namespace lase {
namespace {

// Beyond this number of links, short runs would take long.
constexpr int64_t kMostLinks = int64_t{1} << 19;

// A tenth of the epochs.
TrainOptions pilot_options(TrainOptions options) {
  constexpr int64_t kMost = 20;
  options.epochs = std::clamp<int64_t>(options.epochs / 10, 1, kMost);
  options.patience = 0;
  options.schedule = Schedule::kConstant;
  options.eval_every = 1;
  options.checkpoint.clear();
  options.progress = {};
  options.batch_progress = {};
  if (options.common_neighbors == CommonNeighbors::kAuto) {
    options.common_neighbors = CommonNeighbors::kOff;
  }
  if (options.label_inputs == LabelInputs::kAuto) options.label_inputs = LabelInputs::kOff;
  return options;
}

class InputChooser {
 public:
  InputChooser(const Graph& graph, const TrainOptions& options, const PilotRun& run)
      : graph_(graph),
        run_(run),
        pilot_(pilot_options(options)),
        has_layers_(layer_type(options.model.model).make != nullptr),
        reads_links_(layer_type(options.model.model).reads_links) {
    const auto objective = make_objective(graph, options.predicts, Ranking::kAuto);
    validated_ = std::ssize(seeds_of(graph, options.predicts, *objective, Split::kVal));
    choice_.features = options.features.embed.method;
    choice_.common_neighbors = options.common_neighbors;
    choice_.labels = options.label_inputs;
  }

  InputChoice choose() {
    if (choice_.features == EmbedMethod::kAuto) choose_features();
    if (choice_.common_neighbors == CommonNeighbors::kAuto) choose_common_neighbors();
    if (choice_.labels == LabelInputs::kAuto) choose_labels();
    return std::move(choice_);
  }

 private:
  void choose_features();
  void choose_features_by_score();
  void choose_common_neighbors();
  void choose_labels();
  // Whether a short run with more inputs may help and can be judged.
  bool may_try(bool model_reads_them) const {
    return model_reads_them && !predicts_links(pilot_.predicts) && validated_ > 0 &&
           graph_.links > 0 && graph_.links <= kMostLinks;
  }
  TrainResult run() const;
  // With the inputs that are chosen so far.
  Metric score();
  static Metric score_of(const TrainResult& result) {
    return make_objective(result.trained)->headline(result.val);
  }
  // ": validation accuracy 0.61 after 20 epochs, against 0.52"
  std::string comparison(const Metric& chosen, const Metric& other) const;
  // Two standard errors of a score between 0 and 1.
  double margin(const Metric& score) const {
    return 2 * std::sqrt(std::max(0.0, score.value * (1 - score.value)) /
                         static_cast<double>(validated_));
  }
  bool has_features() const { return graph_.nodes.features.columns > 0; }
  // The features of nodes that have none.
  std::string_view substitute() const {
    return predicts_links(pilot_.predicts) ? "a constant" : "degrees";
  }

  const Graph& graph_;
  const PilotRun& run_;
  TrainOptions pilot_;
  bool has_layers_;
  bool reads_links_;       // their attributes
  int64_t validated_ = 0;  // seeds
  InputChoice choice_;
  std::optional<Metric> score_;  // of the inputs chosen so far, if they were tried
};

TrainResult InputChooser::run() const {
  TrainResult result = run_(pilot_, choice_.learned);
  if (result.stopped) throw Stopped();
  return result;
}

std::string InputChooser::comparison(const Metric& chosen, const Metric& other) const {
  return join(": validation ", chosen.title, " ", significant(chosen.value, 3), " after ",
              pilot_.epochs, pilot_.epochs == 1 ? " epoch" : " epochs", ", against ",
              significant(other.value, 3));
}

// LINE features may help if the graph has no features, or sparse ones, such as words, and is small
// enough to try; a classifier of features alone keeps to those. Without validation nodes, they are
// used if nodes have sparse features, or if neither nodes nor links have attributes.
void InputChooser::choose_features() {
  choice_.features = EmbedMethod::kNone;
  const bool words =
      has_layers_ && graph_.nodes.features.layout == Layout::kSparse && graph_.links <= kMostLinks;
  if (graph_.links == 0 || (has_features() && !words)) return;
  if (validated_ > 0) {
    choose_features_by_score();
    return;
  }
  const bool line = has_features() || graph_.link_attributes.columns == 0;
  if (line) choice_.features = EmbedMethod::kLine;
  if (has_features()) {
    choice_.features_reason = "those of the graph, and others learned from the links (LINE)";
  } else if (line) {
    choice_.features_reason =
        "learned from the links (LINE), because neither nodes nor links have attributes";
  } else {
    choice_.features_reason = join(substitute(), ", because the graph has none");
  }
}

// Beside sparse features, LINE features are used unless their validation score is clearly worse; in
// place of degrees, if it is clearly better.
void InputChooser::choose_features_by_score() {
  pilot_.features.embed.method = EmbedMethod::kNone;
  const Metric without = score_of(run());
  pilot_.features.embed.method = EmbedMethod::kLine;
  TrainResult with = run();
  const Metric line = score_of(with);
  const bool takes_line = has_features() ? line.merit() >= without.merit() - margin(without)
                                         : line.merit() > without.merit() + margin(without);
  score_ = takes_line ? line : without;
  if (takes_line) {
    choice_.features = EmbedMethod::kLine;
    choice_.learned = std::move(with.trained.learned);
  }
  const std::string scores = comparison(*score_, takes_line ? without : line);
  if (has_features()) {
    choice_.features_reason =
        join("those of the graph", takes_line ? ", and others learned from the links (LINE)" : "",
             scores, takes_line ? " without" : " with", " LINE features");
  } else {
    choice_.features_reason = join(takes_line ? "learned from the links (LINE)" : substitute(),
                                   ", because the graph has none", scores, " with ",
                                   takes_line ? substitute() : "LINE features");
  }
}

Metric InputChooser::score() {
  pilot_.features.embed.method = choice_.features;
  if (!score_) {
    TrainResult result = run();
    score_ = score_of(result);
    choice_.learned = std::move(result.trained.learned);
  }
  return *score_;
}

// Common neighbors are used if the validation score with them is clearly better.
void InputChooser::choose_common_neighbors() {
  choice_.common_neighbors = CommonNeighbors::kOff;
  if (!may_try(reads_links_)) return;
  const Metric without = score();
  pilot_.common_neighbors = CommonNeighbors::kOn;
  const Metric with = score_of(run());
  if (with.merit() > without.merit() + margin(without)) {
    choice_.common_neighbors = CommonNeighbors::kOn;
    choice_.common_neighbors_reason =
        join("a link attribute", comparison(with, without), " without them");
    score_ = with;
  } else {
    choice_.common_neighbors_reason = join("not used", comparison(without, with), " with them");
    pilot_.common_neighbors = CommonNeighbors::kOff;
  }
}

// Known labels are used if the validation score with them is clearly better.
void InputChooser::choose_labels() {
  choice_.labels = LabelInputs::kOff;
  if (!may_try(has_layers_)) return;
  const Metric without = score();
  pilot_.label_inputs = LabelInputs::kOn;
  const Metric with = score_of(run());
  const bool takes_labels = with.merit() > without.merit() + margin(without);
  if (takes_labels) choice_.labels = LabelInputs::kOn;
  choice_.labels_reason =
      takes_labels ? join("those of training nodes", comparison(with, without), " without them")
                   : join("none", comparison(without, with), " with those of training nodes");
}

}  // namespace

InputChoice choose_inputs(const Graph& graph, const TrainOptions& options, const PilotRun& run) {
  return InputChooser(graph, options, run).choose();
}

}  // namespace lase
