#include "lase/train/options.h"

#include <algorithm>
#include <string_view>

#include "lase/base/utf8.h"

namespace lase {

const OptionTable<SamplingOptions>& sampling_option_table() {
  static const auto table = [] {
    using O = SamplingOptions;
    OptionTable<O> all;
    all.add(
        "fanout", &O::fanout, fanout_or("auto"),
        "Number of neighbors to sample in each layer, such as 5,10, in the order of the layers "
        "(the "
        "reverse of num_neighbors in PyTorch Geometric), or one number for all layers; all = no "
        "sampling; auto = all if the strategy is auto and the training links have at most 65,536 "
        "directions, or at most 500 million divided by the number of training nodes; otherwise 10, "
        "or with a snapshot 10 in the last layer and 1 in the others");
    all.add(
        "strategy", &O::strategy, one_of<Strategy>(),
        "Neighbor sampling: with equal probabilities (uniform), in proportion to the gate (gate), "
        "with minimum variance (min_var), or uniform with the exact sums of an earlier pass as a "
        "control variate (snapshot); auto = snapshot if the sums do not depend on dropout, "
        "otherwise uniform");
    all.add("replacement", &O::replacement, one_of<Replacement>(),
            "Sample neighbors with replacement, as in the paper, or without");
    all.add("link_dropout", &O::link_dropout, or_auto(below(0, 1)),
            "Probability of dropping each link of a neighborhood during training, in addition to "
            "neighbor sampling; not supported with a snapshot; auto = 0.3 for whole neighborhoods "
            "unless node features are projected, otherwise 0");
    all.add("refresh_every", &O::refresh_every, at_least(1),
            "Number of batches between refreshes of the snapshot or the sampling probabilities");
    all.add("refresh", &O::refresh, one_of<Refresh>(),
            "Refresh a snapshot in one pass over the training links (eager), only for the nodes "
            "that batches touch (lazy), or in the cheaper way (auto)");
    return all;
  }();
  return table;
}

const OptionTable<AdamOptions>& adam_option_table() {
  static const auto table = [] {
    using O = AdamOptions;
    OptionTable<O> all;
    all.add(
        "weight_decay", &O::weight_decay, or_auto(between(0, 1e3)),
        "L2 penalty, added to the gradient as in torch.optim.Adam; auto = 0.0005 if node features "
        "are projected, otherwise 0");
    all.add("clip_value", &O::clip, at_least(0),
            "Clip every entry of the gradient to this absolute value (0 = off)");
    return all;
  }();
  return table;
}

const OptionTable<TrainOptions>& train_option_table() {
  static const auto table = [] {
    using O = TrainOptions;
    OptionTable<O> all;
    all.add("task", &O::predicts, one_of<Predicts>(),
            "What to predict: labels of nodes (nodes), labels of links (links), which nodes are "
            "linked (link-prediction), or nothing but embeddings, learned by predicting links "
            "(embedding); auto = labels of nodes or of links, whichever the graph has");
    all.group("Task");
    all.include(model_option_table(), &O::model).group("Model");
    all.add("scale", &O::node_scaling, one_of<NodeScaling>(),
            "Scaling of node features: zero mean and unit variance on training nodes, unless they "
            "are sparse (standard), divide each row by its L1 norm (row) or its L2 norm (l2), or "
            "none; auto = l2 if they are sparse, otherwise standard; link attributes are always "
            "scaled as with standard");
    all.include(feature_option_table(), &O::features);
    all.add(
        "label_inputs", &O::label_inputs, one_of<LabelInputs>(),
        "Whether the known labels of training nodes are node features. A prediction uses the "
        "labels of other nodes, never that of the node itself; a batch has at most half of the "
        "training nodes. auto = on if short runs have a clearly better validation score with them; "
        "off without validation nodes, for graphs with more than 524288 links, and for links as "
        "targets");
    all.group("Node features");
    all.add(
        "common_neighbors", &O::common_neighbors, one_of<CommonNeighbors>(),
        "Add ln(1 + number of common neighbors of the two nodes of a link) as a link attribute, "
        "counted over all links of the graph, ignoring directions. auto = on if short runs show a "
        "clearly better validation score with it; off without validation nodes, for graphs with "
        "more than 524288 links, for models that do not read link attributes, and if links are "
        "prediction targets");
    all.group("Link attributes");
    all.add("epochs", &O::epochs, at_least(1), "Maximum number of epochs");
    all.add("patience", &O::patience, at_least(0),
            "Stop after this many epochs without a better validation score (0 = never)");
    all.add(
        "batch_size", &O::batch, at_least(0),
        "Maximum number of nodes, or of target links, per batch; batches have similar sizes (0 = "
        "all in one batch). Links of a batch pass no messages, so it has at most a tenth of them");
    all.add("chunks", &O::chunks, at_least(0),
            "Number of chunks into which each batch is split, to be divided among processes. With "
            "the same number, weights are identical for any number of processes (0 = 16 in a group "
            "of processes, otherwise 1)");
    all.add("transductive", &O::transductive, any(),
            "Train on all links, including those of validation and test nodes; validation and test "
            "always use all links");
    all.add(
        "strict_inductive", &O::strict_inductive, any(),
        "Train only on links between training nodes, as in the paper, and not on links of nodes "
        "that belong to no split");
    all.add("learning_rate", &O::learning_rate, positive(1e3), "Learning rate for Adam");
    all.add("schedule", &O::schedule, one_of<Schedule>(),
            "Learning-rate schedule; plateau halves the learning rate after a quarter of the "
            "patience without a better validation score");
    all.include(adam_option_table(), &O::adam);
    all.add("balance", &O::balance, any(), "Weight classes by their inverse frequency in the loss");
    all.add("ema_decay", &O::average, below(0, 1),
            "Decay of the exponential moving average of the weights (0 = off)");
    all.add("select", &O::select, any(),
            "Metric that selects the best epoch on validation nodes: micro_f1, macro_f1, accuracy, "
            "roc_auc, average_precision, log_loss, calibration_error, f1=CLASS or loss; for "
            "regression r2, "
            "absolute_error or loss; auto = micro_f1 or r2, but if one class has more than 80 % of "
            "the training nodes, average_precision for two classes and macro_f1 for more");
    all.add("calibrate", &O::calibrate, any(),
            "Calibrate the probabilities of classes: divide logits by the temperature with the "
            "lowest log loss on validation nodes or links");
    all.add("eval_every", &O::eval_every, at_least(0),
            "Number of epochs between validations (0 = as many as keep validation below a fifth of "
            "the time)");
    all.add(
        "seed", &O::seed, any(),
        "Random seed; the same seed gives the same weights for any number of threads on the same "
        "kind of processor");
    all.group("Training");
    all.include(sampling_option_table(), &O::sampling).group("Neighbor sampling");
    all.include(link_task_option_table(), &O::links).group("Links as targets");
    all.include(device_option_table(), &O::device).group("Device");
    return all;
  }();
  return table;
}

const OptionTable<TrainOptions>& checkpoint_option_table() {
  static const auto table = [] {
    using O = TrainOptions;
    OptionTable<O> all;
    all.add("checkpoint", &O::checkpoint, any(), "Checkpoint file (default: OUT.checkpoint)");
    all.add("checkpoint_every", &O::checkpoint_every, at_least(1),
            "Number of epochs between checkpoints");
    all.add("resume", &O::resume, any(), "Resume from the checkpoint if there is one");
    all.group("Checkpoints");
    return all;
  }();
  return table;
}

nlohmann::json to_json(const TrainOptions& options) {
  return train_option_table().to_json(options);
}

TaskOptions task_options(const TrainOptions& options) {
  return {options.predicts, options.links, options.seed, options.select};
}

std::vector<UnusedOption> unused_task_options(const TrainOptions& options, Predicts predicts,
                                              bool split) {
  const LinkTaskOptions usual;
  const bool labels = predicts == Predicts::kNodes || predicts == Predicts::kLinks;
  std::vector<UnusedOption> unused;
  const auto add = [&](bool applies, bool differs, const char* name, const char* reason) {
    if (!applies && differs) unused.push_back({name, reason});
  };
  const LinkPredictionOptions& prediction = options.links.prediction;
  add(!labels, prediction.negatives != usual.prediction.negatives, "negatives",
      "labels are predicted, not links");
  add(!labels, prediction.sampling != usual.prediction.sampling, "negative_sampling",
      "labels are predicted, not links");
  const bool nodes = predicts == Predicts::kNodes;
  add(!nodes && !split, options.links.split != usual.split, "link_split",
      nodes ? "nodes are predicted, not links" : "the graph has a split of links");
  add(nodes, options.transductive, "transductive", "it is for nodes");
  add(nodes, options.strict_inductive, "strict_inductive", "it is for nodes");
  add(nodes, options.label_inputs == LabelInputs::kOn, "label_inputs", "it is for nodes");
  add(nodes, options.common_neighbors == CommonNeighbors::kOn, "common_neighbors",
      "it is for nodes");
  return unused;
}

void check(const TrainOptions& options) {
  train_option_table().check(options);
  checkpoint_option_table().check(options);
  require_option(is_utf8(options.select), OptionName{"select"}, " ", quote(options.select),
                 ": must be UTF-8 text");
  const auto reserved = [](char c) {
    const bool control = static_cast<unsigned char>(c) < 0x20;
    return control || std::string_view("\"'`\\#").find(c) != std::string_view::npos;
  };
  require_option(std::none_of(options.select.begin(), options.select.end(), reserved),
                 OptionName{"select"}, " ", quote(options.select),
                 ": must not contain quotes, backslashes, # or control characters, which "
                 "configuration files cannot hold; rename the class");
  require_option(!options.transductive || !options.strict_inductive, OptionName{"transductive"},
                 " and ", OptionName{"strict_inductive"}, " are mutually exclusive");
  require_option(options.schedule != Schedule::kPlateau || options.patience > 0,
                 OptionName{"schedule"}, " plateau: requires ", OptionName{"patience"},
                 " above 0, because it halves the learning rate after a quarter of the patience");
}

}  // namespace lase
