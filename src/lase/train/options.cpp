#include "lase/train/options.h"

namespace lase {

const OptionTable<SamplingOptions>& sampling_option_table() {
  static const auto table = [] {
    using O = SamplingOptions;
    OptionTable<O> all;
    all.add("fanout", &O::fanout, fanout_or("auto"),
            "Sampled neighbors per layer, such as 10,10, or all; auto: all of a small graph, else "
            "10, or 1 before the last layer of a snapshot");
    all.add("strategy", &O::strategy, one_of<Strategy>(),
            "Neighbor sampling: uniform, by gate, with the least variance, or uniform to estimate "
            "the change since a snapshot of exact sums; auto: snapshot where the model allows it");
    all.add("draw", &O::draw, one_of<Draw>(),
            "Sample with replacement, as in the paper, or without");
    all.add("renew", &O::renew, at_least(1),
            "Refresh a strategy's pass over the training links after this many batches");
    all.add("renewal", &O::renewal, one_of<Renewal>(),
            "Refresh of a snapshot: in one pass (eager), for the nodes that batches touch (lazy), "
            "or whichever is cheaper (auto)");
    return all;
  }();
  return table;
}

const OptionTable<AdamOptions>& adam_option_table() {
  static const auto table = [] {
    using O = AdamOptions;
    OptionTable<O> all;
    all.add("weight_decay", &O::weight_decay, between(0, 1e3),
            "Weight decay, added to the gradient");
    all.add("clip", &O::clip, at_least(0), "Clip every entry of a gradient to ±clip (0 = off)");
    return all;
  }();
  return table;
}

const OptionTable<TrainOptions>& train_option_table() {
  static const auto table = [] {
    using O = TrainOptions;
    OptionTable<O> all;
    all.include(model_option_table(), &O::model);
    all.add("scale", &O::node_scaling, one_of<NodeScaling>(),
            "Scaling of node features: standardized on training nodes, rows that sum to one, or "
            "none");
    all.include(feature_option_table(), &O::features);
    all.add("epochs", &O::epochs, at_least(1), "Maximum number of epochs");
    all.add("patience", &O::patience, at_least(0),
            "Stop after this many epochs without a better validation score (0 = never)");
    all.add("batch", &O::batch, at_least(0), "Batch size in nodes (0 = all)");
    all.include(sampling_option_table(), &O::sampling);
    all.add("transductive", &O::transductive, any(),
            "Train on all links, not only on those between training nodes");
    all.add("learning_rate", &O::learning_rate, positive(1e3), "Learning rate for Adam");
    all.add("schedule", &O::schedule, one_of<Schedule>(),
            "Learning-rate schedule; plateau halves the rate after a quarter of the patience "
            "without a better score");
    all.include(adam_option_table(), &O::adam);
    all.add("balance", &O::balance, any(), "Weight classes by the inverse of their frequency");
    all.add("average", &O::average, below(0, 1), "EMA decay of the weights (0 = off)");
    all.add("select", &O::select_by_loss, either("score", "loss"),
            "What makes an epoch the best one on validation nodes");
    all.add("eval_every", &O::eval_every, at_least(1), "Number of epochs between validations");
    all.add("seed", &O::seed, any(),
            "Random seed; the same seed gives the same weights for any number of threads");
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
    all.add("resume", &O::resume, any(), "Continue from the checkpoint if there is one");
    return all;
  }();
  return table;
}

nlohmann::json to_json(const TrainOptions& options) {
  return train_option_table().to_json(options);
}

void check(const TrainOptions& options) {
  train_option_table().check(options);
  checkpoint_option_table().check(options);
  require(options.schedule != Schedule::kPlateau || options.patience > 0, OptionName{"schedule"},
          " plateau needs ", OptionName{"patience"},
          ": it halves the learning rate after a quarter of that");
}

}  // namespace lase
