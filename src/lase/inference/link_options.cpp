#include "lase/inference/link_options.h"

namespace lase {

const OptionTable<LinkPredictionOptions>& link_prediction_option_table() {
  static const auto table = [] {
    using O = LinkPredictionOptions;
    OptionTable<O> all;
    all.add("negatives", &O::negatives, or_auto(between(1, 65536)),
            "Link prediction: number of negative samples per link; the links of a batch share them "
            "if the decoder is dot or bilinear; auto = 1024 if they are shared, otherwise 16");
    all.add("negative_sampling", &O::sampling, one_of<NegativeSampling>(),
            "Link prediction: replace one end of a link by any node (uniform), by nodes in "
            "proportion to their degree (degree), or by nodes two links away from the other end "
            "(two-hop)");
    all.add("negative_file", &O::negative_file, any(),
            "Link prediction: table of pairs of nodes that are not linked, with the columns source "
            "and target. The negative samples of a link are the pairs with its source or its "
            "target, or any pairs if there are none");
    all.add("ranking", &O::ranking, one_of<Ranking>(),
            "Link prediction: rank a link among all nodes that are not known to be linked "
            "(filtered), among all nodes (raw), or among 100 that are not known to be linked "
            "(sampled); auto = filtered unless the decoder is mlp or there are more than a billion "
            "pairs");
    return all;
  }();
  return table;
}

const OptionTable<LinkTaskOptions>& link_task_option_table() {
  static const auto table = [] {
    using O = LinkTaskOptions;
    OptionTable<O> all;
    all.add("link_split", &O::split, any(),
            "Percentages of training, validation and test links, if the graph has no split of "
            "links; parallel links and both directions stay together");
    all.include(link_prediction_option_table(), &O::prediction);
    return all;
  }();
  return table;
}

}  // namespace lase
