#include "lase/model/model.h"

#include <ATen/ATen.h>
#include <algorithm>

#include "lase/base/error.h"
#include "lase/ops/linear.h"

namespace lase {

using at::Tensor;

namespace {

bool walks(const ModelOptions& options) {
  return options.architecture == Architecture::kRw || options.architecture == Architecture::kWl;
}

void check(const ModelOptions& options, const ModelShape& shape) {
  const auto& widths = options.widths;
  require(shape.outputs >= 1, "a model needs at least one class or target to predict");
  require(options.architecture == Architecture::kRaw || !widths.empty(),
          "--widths: a model needs at least one layer");
  for (const int64_t width : widths) {
    require(width >= 1 && width <= 65536, "--widths ", width, ": expected 1 to 65536");
  }
  require(options.dropout >= 0 && options.dropout < 1, "--dropout ", options.dropout,
          ": expected 0 to below 1");
  require(options.project >= 0, "--project ", options.project, ": expected 0 or more");
  require(options.depth >= 0 && options.depth <= 16, "--depth ", options.depth,
          ": expected 0 to 16");
  if (walks(options)) {
    require(
        std::count(widths.begin(), widths.end(), widths[0]) == static_cast<int64_t>(widths.size()),
        "--widths: the layers of ", name_of(options.architecture),
        " multiply element by element, so all widths must be equal");
    require(options.project == 0, "--project: ", name_of(options.architecture),
            " always starts from W f(u), of the width given by --widths");
  }
}

}  // namespace

Model::Model(const ModelOptions& options, const ModelShape& shape, uint64_t seed)
    : options_(options), shape_(shape), parameters_(seed) {
  check(options_, shape_);
  int64_t width = shape_.node_features;
  if (options_.architecture == Architecture::kWl) {
    for (int64_t d = 0; d < options_.depth; ++d) {
      layers_.push_back(
          make_relabelling(options_, parameters_, join("relabel", d + 1), shape_.node_features));
    }
  }
  if (walks(options_) || options_.project > 0) {
    width = walks(options_) ? options_.widths[0] : options_.project;
    w0_ = parameters_.matrix("w0", width, shape_.node_features);
  }
  std::vector<int64_t> widths = options_.widths;
  if (options_.architecture == Architecture::kRaw) widths.clear();
  if (options_.architecture == Architecture::kGcn) widths.push_back(shape_.outputs);
  for (size_t l = 0; l < widths.size(); ++l) {
    const LayerShape layer{.name = join("layer", l + 1),
                           .in = width,
                           .out = widths[l],
                           .features = shape_.node_features,
                           .attributes = shape_.link_attributes,
                           .last = l + 1 == widths.size()};
    layers_.push_back(make_layer(options_, parameters_, layer));
    width = out_width(options_, widths[l]);
  }
  if (options_.architecture == Architecture::kGcn) return;
  head_w_ = parameters_.matrix("head.w", shape_.outputs, width);
  head_b_ = parameters_.zeros("head.bias", shape_.outputs);
}

bool Model::starts_from_features() const { return !walks(options_) && !w0_.defined(); }
bool Model::reads_features() const { return walks(options_) || !w0_.defined(); }

State Model::start(const Inputs& inputs, const Tensor& nodes) const {
  if (!walks(options_)) {
    if (w0_.defined()) return {{inputs.projected(nodes, w0_), {}}, {}};
    return {inputs.rows(nodes), {}};
  }
  State state{{}, inputs.rows(nodes)};
  if (options_.architecture == Architecture::kRw || options_.depth == 0) {
    state.h = {ops::linear(state.f, w0_), {}};
  }
  return state;
}

State Model::step(int64_t l, const State& state, const Block& block, const LinkAttributes& links,
                  const ops::Dropout& dropout) const {
  const LayerInput in{state, block, links, dropout.part(l)};
  return finish(l, layer(l).forward(in));
}

State Model::finish(int64_t l, State out) const {
  const bool relabelled = options_.architecture == Architecture::kWl && l + 1 == options_.depth;
  if (relabelled) out.h = {ops::linear(out.f, w0_), {}};
  return out;
}

Tensor Model::embedding(const State& state) const {
  const Tensor h = state.h.dense();
  const bool normalized = options_.normalize && options_.architecture != Architecture::kGcn &&
                          options_.architecture != Architecture::kRaw;
  if (!normalized) return h;
  return h / h.norm(2, 1, true).clamp_min(1e-12);
}

Tensor Model::head(const Tensor& embedding, const ops::Dropout& dropout) const {
  if (!head_w_.defined()) return embedding;
  return ops::linear({embedding, {}}, head_w_, dropout.part(block_count())) + head_b_;
}

Tensor Model::forward(const Inputs& inputs, const Batch& batch, const ops::Dropout& dropout,
                      const Past* past) const {
  State state = start(inputs, batch.nodes);
  for (int64_t l = 0; l < block_count(); ++l) {
    const auto at = static_cast<size_t>(l);
    const LayerInput in{state, batch.blocks[at], inputs.links(), dropout.part(l)};
    State out = past == nullptr ? layer(l).forward(in)
                                : layer(l).forward(in, past->model->layer(l), past->layers[at]);
    state = finish(l, std::move(out));
  }
  return head(embedding(state), dropout);
}

}  // namespace lase
