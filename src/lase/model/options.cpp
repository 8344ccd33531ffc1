#include "lase/model/options.h"

namespace lase {
namespace {

// Name of a layer type; types may be registered at run time.
struct LayerName {
  template <class V>
  void describe(OptionInfo& option) const {
    option.kind = OptionKind::kWord;
    option.words = layer_names();
  }
  void read(const OptionInfo& option, const nlohmann::json& value, std::string& to) const {
    const Words names{layer_names()};
    to = names.words[names.find(option, value)];
  }
  nlohmann::json write(const std::string& name) const { return name; }
};

}  // namespace

const OptionTable<ModelOptions>& model_option_table() {
  static const auto table = [] {
    using O = ModelOptions;
    OptionTable<O> all;
    all.add(
        "model", &O::model, LayerName(),
        "Model: LASE, with a normalized gate and a channel for link attributes (lase); the paper's "
        "LASE-SAGE (sage), LASE-RW, related to random-walk kernels (rw), LASE-WL, related to "
        "Weisfeiler-Lehman kernels (wl), and LASE-concat (concat); or a baseline: GCN (gcn), "
        "GraphSAGE (graphsage), or a linear classifier on node features (raw)");
    all.add("widths", &O::widths, between(1, 65536),
            "Width (hidden dimension) of each layer, such as 128,128 for two layers");
    all.add("combine", &O::combine, one_of<CombineChoice>(),
            "How to combine a node's own state with the aggregate of its neighbors (lase, sage, "
            "concat and graphsage); auto = concat for lase, otherwise add");
    all.add("amplifier", &O::amplifier, one_of<AmplifierChoice>(),
            "Factor by which the state of a neighbor is multiplied elementwise, computed from the "
            "link attributes f(e) with a learned matrix U: the sigmoid of U f(e), U f(e) itself "
            "(linear), or none (lase, sage, rw and wl); auto = linear for lase, otherwise sigmoid");
    all.add("aggregate", &O::aggregate, one_of<ops::Aggregate>(),
            "Aggregation over neighbors: sum, mean or max (sage, concat, rw and wl)");
    all.add("gate", &O::gate, either("none", "scalar"),
            "Learned scalar weight of each neighbor, or none (lase, sage, concat, rw and wl)");
    all.add("depth", &O::depth, between(0, 16), "Number of Weisfeiler-Lehman relabelings (wl)");
    all.add("project", &O::project, or_auto(between(0, 65536)),
            "Project node features linearly to this width before the first layer (0 = off); auto = "
            "64 if there are more than 1,024 node features, otherwise off; always off for rw, wl "
            "and raw");
    all.add("input_dropout", &O::input_dropout, below(0, 1),
            "Dropout probability for projected node features (not rw and wl)");
    all.add(
        "dropout", &O::dropout, below(0, 1),
        "Dropout probability for a node's own state in every layer (in gcn, for all inputs of a "
        "layer) and for the input of the output layer");
    all.add("normalize", &O::normalize, any(), "L2-normalize the last hidden state");
    all.add("decoder", &O::decoder, one_of<DecoderChoice>(),
            "How a link is scored from the embeddings of its nodes: their dot product (dot), a "
            "bilinear form with a diagonal per relation, as in DistMult (bilinear), or a neural "
            "network that also reads the number of common neighbors and the link's own attributes "
            "(mlp); auto = mlp, but for link prediction bilinear if links have relations, and dot "
            "for embeddings");
    all.add("decoder_width", &O::decoder_width, between(1, 65536),
            "Hidden width of the decoder (bilinear and mlp)");
    return all;
  }();
  return table;
}

nlohmann::json to_json(const ModelOptions& options) {
  return model_option_table().to_json(options);
}

}  // namespace lase
