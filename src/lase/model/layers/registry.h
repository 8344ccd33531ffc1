#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lase/model/layer.h"
#include "lase/model/options.h"
#include "lase/model/parameters.h"

namespace lase {

struct LayerShape {
  std::string name = {};   // prefix of the parameter names
  int64_t in = 0;          // width of h^(l−1)
  int64_t out = 0;         // requested width
  int64_t features = 0;    // width of f(u)
  int64_t attributes = 0;  // number of link attributes, k
  bool last = false;       // whether it is the last layer
};

// Describes a type of layer, and thus the model that stacks such layers. A new type requires one
// file with a function that returns its description, and one line in registry.cpp.
struct LayerType {
  using Make = std::function<std::unique_ptr<Layer>(
      const ModelOptions& options, Parameters& parameters, const LayerShape& shape)>;

  std::string name;   // in options and files
  std::string title;  // human-readable

  // Creates one layer. Empty: the model has no layers, and its head reads f(u).
  Make make = {};
  // Width of h^(l) of a layer created with `out` = width. Empty: the same width.
  std::function<int64_t(const ModelOptions& options, int64_t width)> out_width = {};
  // Widths of all layers of a model. Empty: those of the options.
  std::function<std::vector<int64_t>(const ModelOptions& options, int64_t outputs)> widths = {};
  // Layers before h^(0) that change only the features f: one per name returned by `feature_layers`,
  // created with in = out = features. Only for types that reread features.
  std::function<std::vector<std::string>(const ModelOptions& options)> feature_layers = {};
  Make make_feature_layer = {};

  // Unless the options choose others.
  Combine combine = Combine::kAdd;
  ops::Amplifier amplifier = ops::Amplifier::kSigmoid;

  bool rereads_features = false;  // h^(0) = W^(0) f(u), and every layer also reads f(u)
  bool reads_links = false;       // reads link attributes
  bool combines = false;          // combines W1 h(u) and W2 s(u) as set by the option `combine`
  bool takes_max = false;         // the option `aggregate` applies, including max
  bool steady = true;             // the terms of its sums depend on the weights, but not on dropout
  bool transforms_first = false;  // sums W h(v), so terms need gradients in every layer
  bool normalizes = true;         // applies the option `normalize` to the embedding
  bool has_head = true;  // a linear head follows; otherwise the last layer computes the outputs
  double cost = 1;       // of a training step, relative to other types
  std::vector<std::string> unused = {};  // model options that have no effect

  // Additional checks of this type; throws Error if the options do not fit it.
  std::function<void(const ModelOptions& options)> check = {};
};

// The type of that name; throws Error if there is none.
const LayerType& layer_type(std::string_view name);
// Adds a type; call it before creating models of the type. Throws Error if the name is taken.
void register_layer(LayerType type);

// Options that differ from their defaults but have no effect on the model.
std::vector<std::string> unused_options(const ModelOptions& options);

// The combination and the amplifier that the options choose.
Combine combine_of(const ModelOptions& options);
ops::Amplifier amplifier_of(const ModelOptions& options);
// Width of a layer's output (doubled by concatenation).
int64_t out_width(const ModelOptions& options, int64_t width);
// Whether terms are summed or averaged over neighborhoods, rather than reduced by max.
bool sums_terms(const ModelOptions& options);

}  // namespace lase
