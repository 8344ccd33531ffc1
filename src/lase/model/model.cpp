#include "lase/model/model.h"

#include <ATen/ATen.h>
#include <utility>

#include "lase/base/error.h"
#include "lase/ops/gradient_sum.h"
#include "lase/ops/linear.h"
#include "lase/ops/normalize.h"

namespace lase {

using at::Tensor;

namespace {

std::vector<int64_t> widths_of(const ModelOptions& options, const LayerType& type,
                               const ModelShape& shape) {
  if (!type.make) return {};
  // For links, the last layer computes embeddings.
  const bool computes_outputs = type.widths && !shape.links;
  return computes_outputs ? type.widths(options, shape.outputs) : options.widths;
}

// With the width of the projection of node features.
ModelOptions resolved(ModelOptions options, const LayerType& type, const ModelShape& shape) {
  constexpr int64_t kWide = 1024;
  constexpr int64_t kWidth = 64;
  if (options.project) return options;
  const bool projects = type.make && !type.rereads_features && shape.node_features > kWide;
  options.project = projects ? kWidth : 0;
  return options;
}

// Rows of W^(0); 0: h^(0) = f(u).
int64_t first_width(const ModelOptions& options, const LayerType& type) {
  return type.rereads_features ? options.widths[0] : *options.project;
}

// Larger matrices are considered a mistake.
constexpr int64_t kMaxEntries = int64_t{1} << 28;

// Checks every matrix of a layer: W [out, in] and U [in, link attributes].
void check_sizes(const ModelOptions& options, const LayerType& type, const ModelShape& shape) {
  const auto fits = [](int64_t rows, int64_t columns, std::string_view option) {
    require(columns == 0 || rows <= kMaxEntries / columns, OptionName{option}, ": a matrix of ",
            rows, " × ", columns, " is too large; expected at most ", kMaxEntries, " entries");
  };
  int64_t in = shape.node_features;
  if (const int64_t out = first_width(options, type); out > 0) {
    fits(out, in, type.rereads_features ? "widths" : "project");
    in = out;
  }
  for (const int64_t out : widths_of(options, type, shape)) {
    fits(out, std::max(in, shape.node_features), "widths");
    fits(in, shape.link_attributes, "widths");
    in = out_width(options, out);
  }
  fits(shape.outputs, in, "widths");
  if (!shape.links) return;
  fits(options.decoder_width, 3 * in, "decoder_width");
  fits(options.decoder_width, shape.target_attributes, "decoder_width");
  fits(shape.outputs, options.decoder_width, "decoder_width");
}

void check(const ModelOptions& options, const LayerType& type, const ModelShape& shape) {
  model_option_table().check(options);
  require(shape.outputs >= 1, "a model needs at least one class or target to predict");
  require_option(!type.make || !options.widths.empty(), OptionName{"widths"},
                 ": a model needs at least one layer");
  if (type.check) type.check(options);
  check_sizes(options, type, shape);
}

}  // namespace

Model::Model(const ModelOptions& options, const ModelShape& shape, uint64_t seed)
    : Model(options, shape, Parameters(seed)) {
  // Not for a model from a file, which may have been written with another default.
  require_option(*options_.project > 0 || type_.rereads_features ||
                     options_.input_dropout == ModelOptions{}.input_dropout,
                 OptionName{"input_dropout"}, " ", options_.input_dropout,
                 ": has no effect, because node features are not projected; set ",
                 OptionName{"project"});
}

Model::Model(const ModelOptions& options, const ModelShape& shape, Parameters parameters)
    : options_(resolved(options, layer_type(options.model), shape)),
      type_(layer_type(options.model)),
      shape_(shape),
      parameters_(std::move(parameters)) {
  check(options_, type_, shape_);
  const int64_t features = shape_.node_features;
  LayerShape layer{.in = features, .features = features, .attributes = shape_.link_attributes};
  if (type_.feature_layers) {
    const std::vector<std::string> names = type_.feature_layers(options_);
    for (const std::string& name : names) {
      layer.name = name;
      layer.out = features;
      layer.last = name == names.back();
      layers_.push_back(type_.make_feature_layer(options_, parameters_, layer));
      ++feature_layers_;
    }
  }
  if (const int64_t width = first_width(options_, type_); width > 0) {
    layer.in = width;
    w0_ = parameters_.matrix("w0", width, features);
  }
  const std::vector<int64_t> widths = widths_of(options_, type_, shape_);
  for (size_t l = 0; l < widths.size(); ++l) {
    layer.name = join("layer", l + 1);
    layer.out = widths[l];
    layer.last = l + 1 == widths.size();
    layers_.push_back(type_.make(options_, parameters_, layer));
    layer.in = out_width(options_, widths[l]);
  }
  if (shape_.links) {
    decoder_ = make_decoder(options_, parameters_,
                            {.width = layer.in,
                             .attributes = shape_.target_attributes,
                             .outputs = shape_.outputs,
                             .symmetric = shape_.symmetric});
    return;
  }
  if (!type_.has_head) return;
  head_w_ = parameters_.matrix("head.w", shape_.outputs, layer.in);
  head_b_ = parameters_.zeros("head.bias", shape_.outputs);
}

bool Model::starts_from_features() const { return !w0_.defined(); }
bool Model::reads_features() const { return type_.rereads_features || !w0_.defined(); }
bool Model::projects() const { return w0_.defined() && !type_.rereads_features; }

bool Model::steady() const {
  return type_.steady && (*options_.project == 0 || options_.input_dropout == 0);
}

State Model::start(const Inputs& inputs, const Tensor& nodes,
                   const ops::Dropout& input_dropout) const {
  if (type_.rereads_features) {
    const State state{{}, inputs.rows(nodes)};
    return feature_layers_ == 0 ? project_features(state) : state;
  }
  if (w0_.defined()) return {{inputs.projected(nodes, w0_, input_dropout), {}}, {}};
  return {inputs.rows(nodes), {}};
}

State Model::project_features(const State& state) const {
  return {{ops::linear(state.f, w0_), {}}, state.f};
}

State Model::step(int64_t l, const State& state, const Block& block, const LinkAttributes& links,
                  const ops::Dropout& dropout) const {
  const LayerInput in{state, block, links, dropout.part(l)};
  return finish(l, layer(l).forward(in));
}

State Model::finish(int64_t l, State out) const {
  return l + 1 == feature_layers_ ? project_features(out) : std::move(out);
}

Tensor Model::embedding(const State& state) const {
  Tensor h = state.h.dense();
  if (!options_.normalize || !type_.normalizes) return h;
  return ops::normalize_rows(h);
}

Tensor Model::head(const Tensor& embedding, const ops::Dropout& dropout) const {
  if (!head_w_.defined()) return embedding;
  return ops::linear({embedding, {}}, head_w_, dropout.part(block_count())) + head_b_;
}

Tensor Model::outputs(const Inputs& inputs, const Tensor& embedding, const Pairs* pairs,
                      const ops::Dropout& dropout) const {
  if (decoder_ == nullptr) return head(embedding, dropout);
  require(pairs != nullptr, "a model of links requires pairs of nodes");
  return decoder_->forward(embedding, *pairs, inputs.targets(), dropout.part(block_count()));
}

Tensor Model::forward(const Inputs& inputs, const Batch& batch, const ops::Dropout& dropout,
                      const Baseline* baseline, const Pairs* pairs) const {
  return outputs(inputs, embed(inputs, batch, dropout, baseline), pairs, dropout);
}

Tensor Model::embed(const Inputs& inputs, const Batch& batch, const ops::Dropout& dropout,
                    const Baseline* baseline) const {
  ops::Dropout input;
  if (dropout.training()) input = {options_.input_dropout, dropout.part(block_count() + 1).key};
  State state = start(inputs, batch.nodes, input);
  for (int64_t l = 0; l < block_count(); ++l) {
    const auto at = static_cast<size_t>(l);
    state.h.matrix = ops::sum_gradients(state.h.matrix);  // a layer reads h several times
    const auto [block, links] = inputs.links_of(batch.blocks[at]);
    const LayerInput in{state, block, links, dropout.part(l)};
    State out = baseline == nullptr
                    ? layer(l).forward(in)
                    : layer(l).forward(in, baseline->model->layer(l), baseline->layers[at]);
    state = finish(l, std::move(out));
  }
  return embedding(state);
}

std::shared_ptr<const Model> model_on(const std::shared_ptr<const Model>& model,
                                      const at::Device& device) {
  if (model->device() == device) return model;
  const auto& all = model->parameters().all();
  const NamedTensors values(all.begin(), all.end());
  return std::make_shared<Model>(
      model->options(), model->shape(),
      Parameters([&](const std::string& name, const std::vector<int64_t>&) {
        return values.at(name).detach().to(device);
      }));
}

}  // namespace lase
