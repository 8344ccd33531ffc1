#include "cli/train_flags.h"

#include "cli/fanout.h"

void declare_train_flags(CLI::App& verb, TrainFlags& flags) {
  auto& train = flags.train;
  auto& model = train.model;
  verb.add_option("--model", flags.model, "Architecture")
      ->check(CLI::IsMember({"sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"}));
  verb.add_option("--widths", model.widths, "Width of each layer")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb.add_option("--combine", flags.combine, "How a node and its neighbourhood join")
      ->check(CLI::IsMember({"add", "multiply", "concat"}));
  verb.add_option("--amplifier", flags.amplifier, "a(e): sigmoid of U f(e), U f(e), or none")
      ->check(CLI::IsMember({"sigmoid", "linear", "none"}));
  verb.add_option("--aggregate", flags.aggregate, "Over a neighbourhood")
      ->check(CLI::IsMember({"sum", "mean", "max"}));
  verb.add_option("--gate", flags.gate, "λ(u,v), or none")
      ->check(CLI::IsMember({"scalar", "none"}));
  verb.add_option("--depth", model.depth, "Relabellings of wl");
  verb.add_option("--project", model.project,
                  "Start from W f(u) of this width instead of f(u) (0: not)");
  verb.add_option(
      "--dropout", model.dropout,
      "Share of entries dropped from a node's own state in every layer, and before the head");
  verb.add_flag("--no-normalize", flags.no_normalize,
                "Do not bring the last hidden state to length one");
  verb.add_option(
          "--scale", flags.scale,
          "Node features: standardised on training nodes, rows summing to one, or as they are")
      ->check(CLI::IsMember({"standard", "row", "none"}));
  verb.add_option("--features", flags.features,
                  "Node features learned from the links, beside those the graph has")
      ->check(CLI::IsMember({"none", "line", "deepwalk"}));
  verb.add_option("--features-width", flags.learned.embed.width, "Of these");
  verb.add_option("--features-order", flags.features_order, "Of line")
      ->check(CLI::IsMember({"first", "second", "both"}));
  verb.add_option("--features-epochs", flags.learned.embed.epochs,
                  "Of line: samples for every arc (0: by the size of the graph)");
  verb.add_flag("--features-weighted", flags.learned.embed.weighted,
                "Links count by the sum of their attributes");
  verb.add_flag("--features-online", flags.learned.online,
                "Learn them from links between training nodes, whom the others join");
  verb.add_option("--epochs", train.epochs, "At most");
  verb.add_option("--patience", train.patience,
                  "Stop after so many epochs without a better validation score (0: never)");
  verb.add_option("--batch", train.batch, "Nodes a step (0: all)");
  verb.add_option("--fanout", flags.fanout,
                  "Neighbours drawn in each layer, such as 10,10, or 'all'; auto: all of a small "
                  "graph, else 10, or 1 before the last layer of a snapshot");
  verb.add_option("--strategy", flags.strategy,
                  "Which neighbours are drawn: all alike, by gate, with the least variance, or all "
                  "alike to estimate the change since exact sums were taken; auto: "
                  "the last, where the model allows it")
      ->check(CLI::IsMember({"auto", "uniform", "gate", "min_var", "snapshot"}));
  verb.add_option("--draw", flags.draw, "With replacement, as in the paper, or without")
      ->check(CLI::IsMember({"replace", "without"}));
  verb.add_option("--renew", train.sampling.renew,
                  "Batches after which a strategy passes over the training links again");
  verb.add_option("--renewal", flags.renewal,
                  "Of a snapshot: by one pass, for the nodes that batches touch, or by which costs "
                  "less")
      ->check(CLI::IsMember({"auto", "eager", "lazy"}));
  verb.add_flag("--transductive", train.transductive,
                "Training sees all links, not only those between training nodes");
  verb.add_option("--learning-rate", train.learning_rate, "Of Adam");
  verb.add_option(
          "--schedule", flags.schedule,
          "Of the learning rate; plateau halves it after a quarter of --patience without a better "
          "score")
      ->check(CLI::IsMember({"constant", "cosine", "plateau"}));
  verb.add_option("--weight-decay", train.adam.weight_decay, "Of Adam");
  verb.add_option("--clip", train.adam.clip, "Gradients to this size (0: not)");
  verb.add_flag("--balance", train.balance, "Weigh classes by the inverse of their number");
  verb.add_option("--average", train.average,
                  "Keep a running average of the weights that forgets at this rate (0: the last)");
  verb.add_option("--select", flags.select, "What makes an epoch the best one on validation nodes")
      ->check(CLI::IsMember({"score", "loss"}));
  verb.add_option("--eval-every", train.eval_every, "Validate every so many epochs");
  verb.add_option("--seed", train.seed, "Same seed, same weights, for any number of threads");
}

lase::TrainOptions resolved(const TrainFlags& flags) {
  lase::TrainOptions options = flags.train;
  options.model.architecture = lase::architecture_from(flags.model);
  options.model.combine = lase::combine_from(flags.combine);
  options.model.amplifier = lase::amplifier_from(flags.amplifier);
  options.model.aggregate = lase::aggregate_from(flags.aggregate);
  options.model.gate = flags.gate == "scalar";
  options.model.normalize = !flags.no_normalize;
  options.schedule = lase::schedule_from(flags.schedule);
  options.node_scaling = lase::node_scaling_from(flags.scale);
  options.select_by_loss = flags.select == "loss";
  if (flags.fanout != "auto") options.sampling.fanout = parse_fanout(flags.fanout);
  options.sampling.strategy = lase::strategy_from(flags.strategy);
  options.sampling.draw = lase::draw_from(flags.draw);
  options.sampling.renewal = lase::renewal_from(flags.renewal);
  if (flags.features != "none") {
    options.features = flags.learned;
    options.features->embed.method = lase::embed_method_from(flags.features);
    options.features->embed.order = lase::order_from(flags.features_order);
    options.features->embed.seed = options.seed;
    options.features->embed.flags = "--features-";
  }
  return options;
}
