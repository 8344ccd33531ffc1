#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lase/base/option_table.h"
#include "lase/ops/aggregate.h"

namespace lase {

enum class Combine : uint8_t { kAdd, kMultiply, kConcat };

// kAuto: the default of the layer type (LayerType::combine, LayerType::amplifier).
enum class CombineChoice : uint8_t { kAuto, kAdd, kMultiply, kConcat };
enum class AmplifierChoice : uint8_t { kAuto, kSigmoid, kLinear, kNone };

// How links are scored from the embeddings of their nodes. kAuto: kMlp, but for link prediction
// kBilinear if links have relations, and kDot for embeddings.
enum class DecoderChoice : uint8_t { kAuto, kDot, kBilinear, kMlp };

struct ModelOptions {
  std::string model = "lase";  // name of a layer type, see layers/registry.h
  std::vector<int64_t> widths = {128, 128};
  CombineChoice combine = CombineChoice::kAuto;
  AmplifierChoice amplifier = AmplifierChoice::kAuto;
  ops::Aggregate aggregate = ops::Aggregate::kMean;
  bool gate = true;
  int64_t depth = 1;  // number of relabelings in LASE-WL
  // Width of h^(0) = W^(0) f(u); 0: h^(0) = f(u). Empty: depends on the number of features.
  std::optional<int64_t> project = {};
  double input_dropout = 0.7;  // for features that are projected
  double dropout = 0.5;        // for a node's own state in every layer, and for the head's input
  bool normalize = true;       // L2-normalize the last hidden state
  DecoderChoice decoder = DecoderChoice::kAuto;
  int64_t decoder_width = 64;
};

// Names of all layer types in order of registration.
std::vector<std::string> layer_names();
const OptionTable<ModelOptions>& model_option_table();
nlohmann::json to_json(const ModelOptions& options);

template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<CombineChoice> = {"auto", "add",
                                                                              "multiply", "concat"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<AmplifierChoice> = {"auto", "sigmoid",
                                                                                "linear", "none"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<DecoderChoice> = {"auto", "dot",
                                                                              "bilinear", "mlp"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<ops::Amplifier> = {"sigmoid", "linear",
                                                                               "none"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<ops::Aggregate> = {"sum", "mean",
                                                                               "max"};

// How node features are scaled before training. kAuto: kL2 if they are sparse, else kStandard.
enum class NodeScaling : uint8_t { kAuto, kStandard, kRow, kL2, kNone };
template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<NodeScaling> = {"auto", "standard",
                                                                            "row", "l2", "none"};

// Dimensions of the data.
struct ModelShape {
  int64_t node_features = 0;
  int64_t link_attributes = 0;
  int64_t outputs = 0;
  // Outputs for links rather than for nodes.
  bool links = false;
  int64_t target_attributes = 0;  // of a link that is scored
  bool symmetric = false;         // exchanging the nodes of a link does not change its outputs
};

}  // namespace lase
