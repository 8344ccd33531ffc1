#include "lase/train/trainer.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <c10/core/GradMode.h>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>

#include "lase/base/denormals.h"
#include "lase/base/error.h"
#include "lase/base/json.h"
#include "lase/base/names.h"
#include "lase/base/random.h"
#include "lase/inference/inference.h"
#include "lase/ops/one_thread.h"
#include "lase/train/batch_stream.h"
#include "lase/train/checkpoint.h"
#include "lase/train/loss.h"
#include "lase/train/protocol.h"

namespace lase {
namespace {

using at::Tensor;
using nlohmann::json;

constexpr uint64_t kOrderStream = 0x4F52444552;
constexpr uint64_t kDropoutStream = 0x44524F50;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One run, from a graph to the best weights.
class Trainer {
 public:
  Trainer(const Graph& graph, const TrainOptions& options);
  TrainResult run();

 private:
  std::vector<int64_t> shuffled(int64_t epoch) const;
  int64_t batch_size() const;
  double learning_rate(int64_t epoch) const;
  // The mean loss, or nothing where it ceased to be a number or the run was stopped.
  std::optional<double> run_epoch(int64_t epoch);
  std::optional<double> step(int64_t epoch, const BatchStream::Item& item);
  void renew();
  void validate(int64_t epoch, EpochReport& report);
  Tensor predictions(const Outputs& outputs) const;
  void average_weights();
  std::vector<Tensor> copy_weights() const;
  void set_weights(const std::vector<Tensor>& weights);
  json run_options() const;
  void save(int64_t epoch);
  int64_t resume();
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  Graph graph_;
  TrainOptions options_;
  TrainResult result_;
  Protocol protocol_;
  std::optional<Inputs> inputs_;
  std::shared_ptr<Model> model_;
  std::optional<Estimator> estimator_;
  std::optional<Loss> loss_;
  std::optional<Adam> adam_;
  std::vector<Tensor> average_;  // what is validated and kept
  std::vector<Tensor> best_;
  std::vector<Tensor> renewed_;  // the weights of the last renewal
  std::vector<Tensor> good_;     // the last at the start of an epoch that gave a finite loss
  double best_score_ = -std::numeric_limits<double>::infinity();
  double best_loss_ = std::numeric_limits<double>::infinity();
  int64_t best_epoch_ = 0;
  double rate_factor_ = 1;  // of the plateau schedule
  int64_t since_lower_rate_ = 0;
  json curve_ = json::array();
  Clock::time_point start_;
  int64_t links_ = 0;
  double train_seconds_ = 0;
};

Trainer::Trainer(const Graph& graph, const TrainOptions& options)
    : graph_(graph), options_(options) {
  const auto start = Clock::now();
  require(options_.epochs >= 1, "--epochs ", options_.epochs, ": expected at least 1");
  require(options_.batch >= 0, "--batch ", options_.batch, ": expected 0 or more");
  require(options_.checkpoint_every >= 1, "--checkpoint-every ", options_.checkpoint_every,
          ": expected at least 1");
  require(options_.eval_every >= 1, "--eval-every ", options_.eval_every, ": expected at least 1");
  require(options_.learning_rate > 0, "--learning-rate ", options_.learning_rate,
          ": expected a positive number");
  require(options_.schedule != Schedule::kPlateau || options_.patience > 0,
          "--schedule plateau needs --patience: it halves the rate after a quarter of that");
  protocol_ = make_protocol(graph_, options_.transductive,
                            options_.model.architecture == Architecture::kRaw);
  TrainedModel& trained = result_.trained;
  if (options_.features) {
    FeatureOptions wanted = *options_.features;
    wanted.embed.stop = options_.stop;
    trained.learned = learn_features(graph_, training_nodes(graph_), wanted);
    require(!trained.learned.embedding.stopped, "stopped; nothing was written");
    add_features(trained.learned, graph_);
  }
  if (graph_.nodes.features.columns == 0) {
    graph_.nodes.features = degree_features(graph_);
    graph_.nodes.feature_names = make_string_table(std::array{"constant", "log degree"});
    trained.degree_features = true;
  }
  trained.scaling = fit_scaling(graph_, training_nodes(graph_), options_.node_scaling);
  inputs_.emplace(graph_, trained.scaling);
  loss_.emplace(graph_.nodes.labels, protocol_.train, options_.balance);
  const ModelShape shape{.node_features = graph_.nodes.features.columns,
                         .link_attributes = graph_.link_attributes.columns,
                         .outputs = graph_.nodes.labels.classes()};
  model_ = std::make_shared<Model>(options_.model, shape, options_.seed);
  adam_.emplace(model_->parameters(), options_.adam);
  estimator_.emplace(options_.sampling, *model_, *inputs_, protocol_.seen, batch_size());
  trained.model = model_;
  trained.task = graph_.nodes.labels.task;
  trained.label_names = graph_.nodes.labels.names;
  trained.feature_names = graph_.nodes.feature_names;
  trained.attribute_names = graph_.attribute_names;
  trained.directional = graph_.directional;
  trained.node_reduction = graph_.node_reduction;
  trained.link_reduction = graph_.link_reduction;
  trained.target_mean = loss_->target_mean();
  trained.target_scale = loss_->target_scale();
  require(options_.average >= 0 && options_.average < 1, "--average ", options_.average,
          ": expected 0 to below 1");
  average_ = copy_weights();
  best_ = average_;
  result_.sampling = estimator_->describe();
  result_.setup_seconds = seconds_since(start);
}

std::vector<int64_t> Trainer::shuffled(int64_t epoch) const {
  std::vector<int64_t> order = protocol_.train;
  Random random(options_.seed, kOrderStream, epoch);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

int64_t Trainer::batch_size() const {
  const auto n = static_cast<int64_t>(protocol_.train.size());
  return options_.batch == 0 ? n : std::min(options_.batch, n);
}

double Trainer::learning_rate(int64_t epoch) const {
  switch (options_.schedule) {
    case Schedule::kConstant:
      return options_.learning_rate;
    case Schedule::kCosine: {
      const double share = static_cast<double>(epoch) / static_cast<double>(options_.epochs);
      return options_.learning_rate * (1 + std::cos(share * 3.141592653589793)) / 2;
    }
    case Schedule::kPlateau:
      return options_.learning_rate * rate_factor_;
  }
  return options_.learning_rate;
}

std::optional<double> Trainer::run_epoch(int64_t epoch) {
  const std::vector<int64_t> order = shuffled(epoch);
  const auto n = std::ssize(order);
  const int64_t size = batch_size();
  // What a lazy snapshot knows depends on the batches that it has seen, so that it starts anew
  // after a checkpoint, which then need not tell of it.
  if (estimator_->lazy() && epoch % options_.checkpoint_every == 0) {
    estimator_->expire();
  }
  double sum = 0;
  for (int64_t first = 0; first < n;) {
    if (estimator_->batches_left() == 0) renew();
    const int64_t batches = std::min((n - first + size - 1) / size, estimator_->batches_left());
    const int64_t last = std::min(n, first + batches * size);
    BatchStream stream(protocol_.seen, estimator_->sampling(),
                       {.order = {order.begin() + first, order.begin() + last},
                        .size = size,
                        .key = {options_.seed, epoch, first / size},
                        .snapshot = estimator_->snapshot()});
    while (const auto item = stream.next()) {
      const auto loss = step(epoch, *item);
      if (!loss) return std::nullopt;
      sum += *loss * static_cast<double>(item->seeds.size());
      if (options_.batch_progress) {
        const int64_t done = std::min(n, (item->number + 1) * size);
        options_.batch_progress({.epoch = epoch + 1,
                                 .epochs = options_.epochs,
                                 .batch = item->number + 1,
                                 .batches = (n + size - 1) / size,
                                 .loss = sum / static_cast<double>(done),
                                 .seconds = seconds_since(start_)});
      }
    }
    estimator_->took(batches);
    first = last;
  }
  return sum / static_cast<double>(n);
}

void Trainer::renew() {
  const auto start = Clock::now();
  estimator_->renew();
  renewed_ = copy_weights();
  result_.renewal_seconds += seconds_since(start);
}

std::optional<double> Trainer::step(int64_t epoch, const BatchStream::Item& item) {
  links_ += item.batch.arcs();
  const ops::Dropout dropout{options_.model.dropout,
                             Random(options_.seed, kDropoutStream, epoch, item.number).bits()};
  const Tensor outputs =
      model_->forward(*inputs_, item.batch, dropout, item.past ? &*item.past : nullptr);
  const Tensor loss = (*loss_)(outputs, item.seeds);
  const auto value = static_cast<double>(loss.item<float>());
  if (!std::isfinite(value)) {
    result_.diverged = join("the loss is ", value, " in epoch ", epoch + 1, ", batch ",
                            item.number + 1, " (a lower --learning-rate may help)");
    return std::nullopt;
  }
  if (item.number == 0) good_ = copy_weights();
  adam_->zero_gradients();
  loss.backward();
  adam_->step(learning_rate(epoch));
  average_weights();
  if (stopped()) return std::nullopt;
  return value;
}

// The average forgets its start: early on it follows the weights closely.
void Trainer::average_weights() {
  c10::NoGradGuard no_grad;
  const auto steps = static_cast<double>(adam_->steps());
  const double decay = std::min(options_.average, (steps - 1) / (steps + 9));
  for (size_t i = 0; i < average_.size(); ++i) {
    average_[i].mul_(decay).add_(model_->parameters().all()[i].second, 1 - decay);
  }
}

// Predictions in the units of the targets.
Tensor Trainer::predictions(const Outputs& outputs) const {
  if (graph_.nodes.labels.task != Task::kRegression) return outputs.logits;
  return loss_->target_mean() + outputs.logits / loss_->target_scale();
}

void Trainer::validate(int64_t epoch, EpochReport& report) {
  const auto copy = [](const std::vector<Tensor>& tensors) {
    std::vector<Tensor> copies;
    for (const auto& tensor : tensors) copies.push_back(tensor.clone());
    return copies;
  };
  if (protocol_.val.empty()) {
    best_ = copy(average_);
    best_epoch_ = epoch + 1;
    return;
  }
  const std::vector<Tensor> weights = copy_weights();
  set_weights(average_);
  const Outputs outputs = infer(*model_, *inputs_, protocol_.all, Keep::kLogits);
  set_weights(weights);
  report.validated = true;
  report.val = score(predictions(outputs), graph_.nodes.labels, protocol_.val);
  const double headline = report.val.headline(graph_.nodes.labels.task);
  const Tensor rows = index_of(protocol_.val);
  c10::NoGradGuard no_grad;
  const double loss = (*loss_)(outputs.logits.index_select(0, rows), protocol_.val).item<float>();
  // Equal scores are told apart by the loss.
  const bool higher = headline > best_score_ || (headline == best_score_ && loss < best_loss_);
  const bool better = std::isfinite(loss) && (options_.select_by_loss ? loss < best_loss_ : higher);
  ++since_lower_rate_;
  if (better) {
    best_score_ = headline;
    best_loss_ = loss;
    best_epoch_ = epoch + 1;
    best_ = copy(average_);
    since_lower_rate_ = 0;
  } else if (options_.patience > 0 && since_lower_rate_ * 4 >= options_.patience) {
    rate_factor_ /= 2;
    since_lower_rate_ = 0;
  }
}

std::vector<Tensor> Trainer::copy_weights() const {
  std::vector<Tensor> weights;
  for (const auto& [name, value] : model_->parameters().all()) {
    weights.push_back(value.detach().clone());
  }
  return weights;
}

void Trainer::set_weights(const std::vector<Tensor>& weights) {
  c10::NoGradGuard no_grad;
  for (size_t i = 0; i < weights.size(); ++i)
    model_->parameters().all()[i].second.copy_(weights[i]);
}

// What decides on the weights.
json Trainer::run_options() const {
  json all = to_json(options_);
  if (estimator_->lazy()) all["checkpoint_every"] = options_.checkpoint_every;
  return all;
}

void Trainer::save(int64_t epoch) {
  Checkpoint checkpoint{.epoch = epoch,
                        .steps = adam_->steps(),
                        .weights = copy_weights(),
                        .average = average_,
                        .best = best_,
                        .first = adam_->first(),
                        .second = adam_->second(),
                        .renewed = {},
                        .progress = {{"curve", curve_},
                                     {"best_epoch", best_epoch_},
                                     {"rate_factor", rate_factor_},
                                     {"since_lower_rate", since_lower_rate_}},
                        .options = run_options()};
  if (best_epoch_ > 0 && !protocol_.val.empty()) {
    checkpoint.progress["best_score"] = best_score_;
    checkpoint.progress["best_loss"] = best_loss_;
  }
  if (estimator_->renews() && !estimator_->lazy() && estimator_->batches_left() > 0) {
    checkpoint.renewed = renewed_;
    checkpoint.progress["batches_left"] = estimator_->batches_left();
  }
  // A run is worth more than its checkpoint: without room for one it goes on, and says so at the
  // end.
  try {
    save_checkpoint(checkpoint, options_.checkpoint);
  } catch (const Error& error) {
    result_.checkpoint_error = error.what();
  }
}

// The number of epochs done.
int64_t Trainer::resume() try {
  const std::string& path = options_.checkpoint;
  if (!options_.resume || path.empty() || !std::filesystem::exists(path)) return 0;
  Checkpoint checkpoint = load_checkpoint(path, copy_weights());
  require(checkpoint.options == run_options(), path,
          ": belongs to a run with other options; remove it or give the same ones");
  if (!checkpoint.renewed.empty()) {
    set_weights(checkpoint.renewed);
    estimator_->renew(checkpoint.progress.at("batches_left").get<int64_t>());
    renewed_ = std::move(checkpoint.renewed);
  }
  set_weights(checkpoint.weights);
  average_ = std::move(checkpoint.average);
  best_ = std::move(checkpoint.best);
  adam_->first() = std::move(checkpoint.first);
  adam_->second() = std::move(checkpoint.second);
  adam_->set_steps(checkpoint.steps);
  const json& progress = checkpoint.progress;
  curve_ = progress.at("curve");
  best_epoch_ = progress.at("best_epoch").get<int64_t>();
  best_score_ = progress.value("best_score", best_score_);
  best_loss_ = progress.value("best_loss", best_loss_);
  rate_factor_ = progress.at("rate_factor").get<double>();
  since_lower_rate_ = progress.at("since_lower_rate").get<int64_t>();
  return checkpoint.epoch;
} catch (const json::exception&) {
  fail(options_.checkpoint, ": the description of the checkpoint is damaged");
}

TrainResult Trainer::run() {
  start_ = Clock::now();
  int64_t epoch = resume();
  for (; epoch < options_.epochs; ++epoch) {
    const bool patient = options_.patience == 0 || protocol_.val.empty() || best_epoch_ == 0 ||
                         epoch - best_epoch_ < options_.patience;
    if (!patient || stopped()) break;
    const auto epoch_start = Clock::now();
    const auto loss = run_epoch(epoch);
    train_seconds_ += seconds_since(epoch_start);
    if (!loss) break;
    EpochReport report;
    report.epoch = epoch + 1;
    report.epochs = options_.epochs;
    report.loss = *loss;
    report.learning_rate = learning_rate(epoch);
    const bool due = (epoch + 1) % options_.eval_every == 0 || epoch + 1 == options_.epochs;
    if (due) validate(epoch, report);
    report.best = best_score_;
    report.best_epoch = best_epoch_;
    report.seconds = seconds_since(start_);
    report.train_seconds = train_seconds_;
    report.links_per_second = static_cast<double>(links_) / std::max(1e-9, train_seconds_);
    json point = {{"epoch", report.epoch}, {"loss", report.loss}};
    if (report.validated) point["val"] = report.val.headline(graph_.nodes.labels.task);
    curve_.push_back(point);
    if (options_.progress) options_.progress(report);
    const bool last = epoch + 1 == options_.epochs;
    if (!options_.checkpoint.empty() && !last && (epoch + 1) % options_.checkpoint_every == 0) {
      save(epoch + 1);
    }
  }
  result_.stopped = stopped();
  // Where nothing was validated yet, the last weights are the best known, if they are any good.
  const bool validated = best_epoch_ > 0 && !protocol_.val.empty();
  if (!result_.diverged.empty() && !validated) {
    set_weights(good_);
  } else if (best_epoch_ > 0) {
    set_weights(best_);
  }
  result_.epochs = epoch;
  result_.best_epoch = best_epoch_;
  if (best_epoch_ > 0 && !protocol_.val.empty()) result_.val_loss = best_loss_;
  result_.seconds = seconds_since(start_);
  result_.train_seconds = train_seconds_;
  result_.renewals = estimator_->renewals();
  result_.links_per_second = static_cast<double>(links_) / std::max(1e-9, train_seconds_);
  Tensor outputs = predictions(infer(*model_, *inputs_, protocol_.all, Keep::kLogits));
  if (!outputs.isfinite().all().item<bool>() && result_.diverged.empty()) {
    // The last step of all went too far, which no loss has shown.
    result_.diverged = join("the outputs are not finite after epoch ", epoch,
                            " (a lower --learning-rate may help)");
    set_weights(good_);
    outputs = predictions(infer(*model_, *inputs_, protocol_.all, Keep::kLogits));
  }
  if (!protocol_.val.empty()) result_.val = score(outputs, graph_.nodes.labels, protocol_.val);
  if (!protocol_.test.empty()) result_.test = score(outputs, graph_.nodes.labels, protocol_.test);
  result_.trained.training = {{"options", to_json(options_)},
                              {"epochs", result_.epochs},
                              {"best_epoch", result_.best_epoch},
                              {"curve", curve_}};
  return std::move(result_);
}

constexpr std::array<std::string_view, 3> kSchedules = {"constant", "cosine", "plateau"};
constexpr std::array<std::string_view, 3> kNodeScalings = {"standard", "row", "none"};

}  // namespace

TrainResult train(const Graph& graph, const TrainOptions& options) {
  const ops::OneThread one_thread;  // before anything wakes threads that would start with several
  const FlushDenormals flush;
  return Trainer(graph, options).run();
}

std::string_view name_of(Schedule value) { return kSchedules[static_cast<size_t>(value)]; }
std::string_view name_of(NodeScaling value) { return kNodeScalings[static_cast<size_t>(value)]; }

Schedule schedule_from(std::string_view name) {
  return value_named<Schedule>(name, kSchedules, "schedule");
}

NodeScaling node_scaling_from(std::string_view name) {
  return value_named<NodeScaling>(name, kNodeScalings, "scaling");
}

json to_json(const TrainOptions& options) {
  json all = to_json(options.model);
  all.update({{"scale", name_of(options.node_scaling)},
              {"epochs", options.epochs},
              {"patience", options.patience},
              {"batch", options.batch},
              {"fanout", options.sampling.fanout},
              {"strategy", name_of(options.sampling.strategy)},
              {"draw", name_of(options.sampling.draw)},
              {"renew", options.sampling.renew},
              {"renewal", name_of(options.sampling.renewal)},
              {"transductive", options.transductive},
              {"learning_rate", options.learning_rate},
              {"schedule", name_of(options.schedule)},
              {"weight_decay", options.adam.weight_decay},
              {"clip", options.adam.clip},
              {"balance", options.balance},
              {"average", options.average},
              {"select", options.select_by_loss ? "loss" : "score"},
              {"eval_every", options.eval_every},
              {"seed", options.seed}});
  if (options.features) {
    all["features"] = to_json(options.features->embed);
    all["features"]["online"] = options.features->online;
  }
  return all;
}

TrainOptions changed_options(TrainOptions options, const json& changes) try {
  json all = to_json(options);
  for (const auto& [name, value] : changes.items()) {
    require(all.contains(name), "there is no option of training called ", quote(name));
    require(all[name].is_number() == value.is_number() &&
                all[name].is_array() == value.is_array() &&
                all[name].is_boolean() == value.is_boolean(),
            name, " ", quote(value.dump()), ": expected something like ", all[name].dump());
    all[name] = value;
  }
  options.model = model_options_from(all);
  options.node_scaling = node_scaling_from(all.at("scale").get<std::string>());
  options.epochs = natural_at(all, "epochs");
  options.patience = natural_at(all, "patience");
  options.batch = natural_at(all, "batch");
  options.sampling.fanout = all.at("fanout").get<std::vector<int64_t>>();
  options.sampling.strategy = strategy_from(all.at("strategy").get<std::string>());
  options.sampling.draw = draw_from(all.at("draw").get<std::string>());
  options.sampling.renew = natural_at(all, "renew");
  options.sampling.renewal = renewal_from(all.at("renewal").get<std::string>());
  options.transductive = all.at("transductive").get<bool>();
  options.learning_rate = all.at("learning_rate").get<double>();
  options.schedule = schedule_from(all.at("schedule").get<std::string>());
  options.adam.weight_decay = all.at("weight_decay").get<double>();
  options.adam.clip = all.at("clip").get<double>();
  options.balance = all.at("balance").get<bool>();
  options.average = all.at("average").get<double>();
  options.select_by_loss = all.at("select").get<std::string>() == "loss";
  options.eval_every = natural_at(all, "eval_every");
  options.seed = all.at("seed").get<uint64_t>();
  return options;
} catch (const json::exception& error) {
  fail("options of training: ", error.what());
}

}  // namespace lase
