#include "lase/model/layers/registry.h"

#include <algorithm>
#include <deque>

#include "lase/base/error.h"
#include "lase/model/layers/layers.h"

namespace lase {
namespace {

// A deque, so that references stay valid when a type is added.
std::deque<LayerType>& types() {
  static std::deque<LayerType> all = {lase_layer(),  lase_sage(), lase_rw(),   lase_wl(),
                                      lase_concat(), gcn(),       graphsage(), raw()};
  return all;
}

const LayerType* find(std::string_view name) {
  const auto& all = types();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const LayerType& type) { return type.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const LayerType& layer_type(std::string_view name) {
  const LayerType* found = find(name);
  require(found != nullptr, "there is no model named ", quote(name));
  return *found;
}

std::vector<std::string> layer_names() {
  std::vector<std::string> names;
  for (const LayerType& type : types()) names.push_back(type.name);
  return names;
}

void register_layer(LayerType type) {
  require(find(type.name) == nullptr, "a model named ", quote(type.name), " already exists");
  types().push_back(std::move(type));
}

std::vector<std::string> unused_options(const ModelOptions& options) {
  const nlohmann::json chosen = to_json(options);
  const nlohmann::json defaults = to_json(ModelOptions{});
  std::vector<std::string> unused = layer_type(options.model).unused;
  std::erase_if(unused, [&](const auto& name) { return chosen.at(name) == defaults.at(name); });
  return unused;
}

Combine combine_of(const ModelOptions& options) {
  switch (options.combine) {
    case CombineChoice::kAuto:
      return layer_type(options.model).combine;
    case CombineChoice::kAdd:
      return Combine::kAdd;
    case CombineChoice::kMultiply:
      return Combine::kMultiply;
    case CombineChoice::kConcat:
      return Combine::kConcat;
  }
  return Combine::kAdd;
}

ops::Amplifier amplifier_of(const ModelOptions& options) {
  switch (options.amplifier) {
    case AmplifierChoice::kAuto:
      return layer_type(options.model).amplifier;
    case AmplifierChoice::kSigmoid:
      return ops::Amplifier::kSigmoid;
    case AmplifierChoice::kLinear:
      return ops::Amplifier::kLinear;
    case AmplifierChoice::kNone:
      return ops::Amplifier::kNone;
  }
  return ops::Amplifier::kNone;
}

int64_t out_width(const ModelOptions& options, int64_t width) {
  const LayerType& type = layer_type(options.model);
  return type.out_width ? type.out_width(options, width) : width;
}

bool sums_terms(const ModelOptions& options) {
  return options.aggregate != ops::Aggregate::kMax || !layer_type(options.model).takes_max;
}

}  // namespace lase
