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
  std::string name = {};   // prefix of the names of the parameters
  int64_t in = 0;          // width of h^(l−1)
  int64_t out = 0;         // width asked for
  int64_t features = 0;    // width of f(u)
  int64_t attributes = 0;  // k
  bool last = false;
};

// Describes a type of layer, and so the model that stacks it. A new type is one file with a
// function that returns its description, and one line in registry.cpp.
struct LayerType {
  using Make = std::function<std::unique_ptr<Layer>(
      const ModelOptions& options, Parameters& parameters, const LayerShape& shape)>;

  std::string name;   // the word for it in options and files
  std::string title;  // as a page shows it

  // One layer; without it a model has none, and its head reads f(u).
  Make make = {};
  // Width of h^(l) of a layer made with `out` = width. Empty: the width itself.
  std::function<int64_t(const ModelOptions& options, int64_t width)> out_width = {};
  // Widths of all layers of a model. Empty: those of the options.
  std::function<std::vector<int64_t>(const ModelOptions& options, int64_t outputs)> widths = {};
  // Layers before h^(0) that change the features f alone: one for each name returned by
  // `feature_layers`, made with in = out = features. Only for types that walk.
  std::function<std::vector<std::string>(const ModelOptions& options)> feature_layers = {};
  Make make_feature_layer = {};

  bool walks = false;        // h^(0) = W^(0) f(u), and every layer reads f(u) as well
  bool reads_links = false;  // reads link attributes
  bool combines = false;     // joins W1 h(u) and W2 s(u) as the option `combine` says
  bool takes_max = false;    // the option `aggregate` applies, so that it may take the largest term
  bool steady = true;  // the terms of its sums change with the weights alone, not with dropout
  bool transforms_first = false;  // sums W h(v), so that terms need gradients in every layer
  bool normalizes = true;         // the embedding is brought to length one, if the options say so
  bool has_head = true;  // a linear head follows; otherwise the last layer gives the outputs
  double cost = 1;       // of a training step compared with the other types

  // Throws Error if options do not fit this type, beyond what holds for all.
  std::function<void(const ModelOptions& options)> check = {};
};

// The type of that name; throws Error if there is none.
const LayerType& layer_type(std::string_view name);
// Names of all types in the order of the list.
std::vector<std::string> layer_names();
// Adds a type, before any model of it is made. Throws Error if the name is taken.
void register_layer(LayerType type);

// Width of a layer's output (twice the width if concatenated).
int64_t out_width(const ModelOptions& options, int64_t width);
// Whether neighborhoods are summed or averaged, rather than the largest term taken.
bool sums_terms(const ModelOptions& options);

}  // namespace lase
