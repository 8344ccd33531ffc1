#include "lase/inference/inference.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <numeric>

#include "lase/base/denormals.h"
#include "lase/base/error.h"
#include "lase/base/memory.h"
#include "lase/base/process_group.h"
#include "lase/ops/divided_rows.h"

namespace lase {

using at::Tensor;

namespace {

// End of the chunk of nodes that starts at `first`, with about `arcs` arcs and at least one node.
int64_t chunk_end(const Adjacency& graph, int64_t first, int64_t arcs) {
  const auto* begin = graph.row_ptr.data();
  const auto* end = std::upper_bound(begin + first + 1, begin + graph.row_ptr.size(),
                                     graph.row_ptr[first] + arcs);
  return std::max(first + 1, static_cast<int64_t>(end - begin) - 1);
}

// The nodes of each process, from bounds[i] to bounds[i + 1]: about as many arcs and nodes for
// every process, and at least one node. There are no bounds if the nodes are not divided: there is
// one process, or there are fewer nodes than processes.
std::vector<int64_t> bounds_by_arcs(const Adjacency& graph) {
  const int64_t nodes = graph.row_ptr.size() - 1;
  const int64_t processes = process_count();
  if (processes == 1 || nodes < processes) return {};
  std::vector<int64_t> bounds = {0};
  int64_t u = 0;
  for (int64_t i = 1; i < processes; ++i) {
    const int64_t before = part_of(graph.row_ptr[nodes] + nodes, processes, i).first;
    while (graph.row_ptr[u] + u < before) ++u;
    u = std::clamp(u, i, nodes - processes + i);
    bounds.push_back(u);
  }
  bounds.push_back(nodes);
  return bounds;
}

// The same for about as many batches of `size` nodes for every process, and at least one.
std::vector<int64_t> bounds_by_batches(int64_t nodes, int64_t size) {
  const int64_t processes = process_count();
  const int64_t batches = (nodes + size - 1) / size;
  if (processes == 1 || batches < processes) return {};
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i < processes; ++i) {
    bounds.push_back(part_of(batches, processes, i).first * size);
  }
  bounds.push_back(nodes);
  return bounds;
}

// Writes rows into a matrix, which is allocated by the first call unless it has all rows.
void put(Tensor& matrix, const Tensor& rows, int64_t first, int64_t all) {
  if (rows.size(0) == all) {
    matrix = rows;
    return;
  }
  if (!matrix.defined()) {
    require_memory(static_cast<double>(all * rows.size(1)) * sizeof(float),
                   "the states of all nodes", "train with smaller ", OptionName{"widths"},
                   ", or predict with a ", OptionName{"fanout"}, " such as 10,10");
    matrix = at::empty({all, rows.size(1)}, rows.options());
  }
  matrix.narrow(0, first, rows.size(0)).copy_(rows);
}

void put(ops::Rows& matrix, const ops::Rows& rows, int64_t first, int64_t all) {
  if (rows.defined()) put(matrix.matrix, rows.dense(), first, all);
}

void require_outputs(const Model& model, int64_t nodes) {
  require_memory(static_cast<double>(nodes * model.shape().outputs) * sizeof(float),
                 "the outputs for all nodes", "split the graph into smaller ones");
}

// Layer-wise inference over whole neighborhoods, in chunks of nodes.
struct WholeGraph {
  const Model& model;
  const Inputs& inputs;
  const Adjacency& graph;
  int64_t arcs;  // per chunk
  Tensor degree;
  ops::DividedRows divided;

  WholeGraph(const Model& of, const Inputs& from, const Adjacency& on, int64_t chunk_arcs)
      : model(of),
        inputs(from),
        graph(on),
        arcs(chunk_arcs),
        degree(degrees(on)),
        divided(nodes(), bounds_by_arcs(on)) {
    if (arcs > 0) return;
    // Max aggregation stores all terms of a chunk: [arcs, d].
    arcs = model.options().aggregate == ops::Aggregate::kMax ? 1 << 17 : 1 << 22;
  }

  int64_t nodes() const { return graph.row_ptr.size() - 1; }

  // Calls visit(state, first) with the output of layer l for every chunk of the own nodes.
  template <class Visit>
  void step(int64_t l, const State& state, const Visit& visit) const {
    for (int64_t first = divided.own().first; first < divided.own().last;) {
      const int64_t last = std::min(chunk_end(graph, first, arcs), divided.own().last);
      const Block block = whole_block(graph, degree, first, last).to(inputs.device());
      visit(model.step(l, state, block, inputs.links(), {}), first);
      first = last;
    }
  }

  // Input of layer l for every node.
  State state_before(int64_t l) const {
    State state = model.start(inputs, Tensor());
    for (int64_t below = 0; below < l; ++below) {
      State next;
      step(below, state, [&](const State& chunk, int64_t first) {
        put(next.h, chunk.h, first, nodes());
        put(next.f, chunk.f, first, nodes());
      });
      divided.complete(next.h.matrix);
      divided.complete(next.f.matrix);
      state = std::move(next);
    }
    return state;
  }
};

}  // namespace

State last_layer_input(const Model& model, const Inputs& inputs, const Adjacency& graph) {
  c10::NoGradGuard no_grad;
  const FlushDenormals flush;
  return WholeGraph(model, inputs, graph, 0).state_before(model.block_count() - 1);
}

namespace {

Outputs infer_on_device(const Model& model, const Inputs& inputs, const Adjacency& graph, Keep keep,
                        int64_t arcs) {
  c10::NoGradGuard no_grad;
  const FlushDenormals flush;
  const WholeGraph whole(model, inputs, graph, arcs);
  const int64_t nodes = whole.nodes();
  require_outputs(model, nodes);
  Outputs outputs;
  const auto put_outputs = [&](const State& state, int64_t first) {
    const Tensor embedding = model.embedding(state);
    if (keep != Keep::kLogits) put(outputs.embedding, embedding, first, nodes);
    if (keep == Keep::kEmbedding || model.decoder() != nullptr) return;
    put(outputs.logits, model.head(embedding, {}), first, nodes);
  };
  const int64_t last = model.block_count() - 1;
  if (last < 0) {
    put_outputs(model.start(inputs, Tensor()), 0);
  } else {
    whole.step(last, whole.state_before(last), put_outputs);
    whole.divided.complete(outputs.embedding);
    whole.divided.complete(outputs.logits);
  }
  return outputs;
}

}  // namespace

Outputs infer(const Model& model, const Inputs& inputs, const Adjacency& graph, Keep keep,
              int64_t arcs) {
  return ops::with_device_memory([&] { return infer_on_device(model, inputs, graph, keep, arcs); });
}

namespace {

// The rows of all nodes, from those of the own nodes.
ops::Rows all_rows(const ops::Rows& rows, const ops::DividedRows& divided) {
  if (process_count() == 1 || !rows.defined()) return rows;
  return {divided.all(rows.dense()), {}};
}

}  // namespace

namespace {

void require_sums(int64_t nodes, int64_t width) {
  require_memory(static_cast<double>(nodes * width) * sizeof(float), "the exact sums of all nodes",
                 "set ", OptionName{"strategy"}, " to uniform, or ", OptionName{"refresh"},
                 " to lazy");
}

}  // namespace

LayerSums layer_sums(const Model& model, int64_t l, const LayerInput& in,
                     std::optional<ops::Score> score) {
  require(sums_terms(model.options()), OptionName{"aggregate"},
          " max: an exact pass requires sum or mean");
  LayerSums sums{model.layer(l).sums(in), {}, {}};
  for (const auto& part : sums.inputs) {
    require_sums(in.block.targets(), part.width());
    if (!score) {
      sums.values.push_back(ops::gated_sum(part, in.block));
      continue;
    }
    const bool by_norm = *score == ops::Score::kNorm;
    const auto [s, found] = ops::gated_sum_with_scores(
        part, in.block, *score, by_norm ? model.layer(l).factor(in) : Tensor());
    sums.values.push_back(s);
    // The terms of several sums count as one concatenated vector.
    sums.scores = sums.scores.defined() && by_norm ? at::hypot(sums.scores, found) : found;
  }
  return sums;
}

std::vector<LayerPass> exact_pass(const Model& model, const Inputs& inputs, const Adjacency& graph,
                                  std::optional<ops::Score> score, const LayerNodes* read) {
  c10::NoGradGuard no_grad;
  const FlushDenormals flush;
  const int64_t nodes = graph.row_ptr.size() - 1;
  std::vector<int64_t> bounds = bounds_by_arcs(graph);
  std::vector<int64_t> arc_bounds;
  for (const int64_t u : bounds) arc_bounds.push_back(graph.row_ptr[u]);
  const ops::DividedRows divided(nodes, std::move(bounds));
  const ops::DividedRows divided_arcs(graph.arc_count(), std::move(arc_bounds));
  const auto [first, last] = divided.own();
  const Block block = whole_block(graph, degrees(graph), first, last).to(inputs.device());
  std::vector<LayerPass> layers;
  State state = model.start(inputs, Tensor());
  for (int64_t l = 0; l < model.block_count(); ++l) {
    const LayerInput in{state, block, inputs.links(), {}};
    LayerSums sums = layer_sums(model, l, in, score);  // of the own nodes
    for (const Tensor& s : sums.values) require_sums(nodes, s.size(1));
    State next;
    if (l + 1 < model.block_count()) {
      next = model.finish(l, model.layer(l).update(in, sums.inputs, sums.values));
      next = {all_rows(next.h, divided), all_rows(next.f, divided)};
    }
    if (read == nullptr) {
      for (Tensor& s : sums.values) s = divided.all(s);
    } else {
      const ops::RequestedRows requested(divided, (*read)[static_cast<size_t>(l)]);
      for (Tensor& s : sums.values) s = requested.from(s);
    }
    layers.push_back({{std::move(state), std::move(sums.values)}, divided_arcs.all(sums.scores)});
    state = std::move(next);
  }
  return layers;
}

Outputs infer_sampled(const Model& model, const Inputs& inputs, const Adjacency& graph,
                      std::span<const int64_t> fanouts, uint64_t seed, int64_t batch_size) {
  c10::NoGradGuard no_grad;
  const FlushDenormals flush;
  const int64_t nodes = graph.row_ptr.size() - 1;
  require_outputs(model, nodes);
  const ops::DividedRows divided(nodes, bounds_by_batches(nodes, batch_size));
  const Part own = divided.own();
  const Sampling sampling{.fanouts = {fanouts.begin(), fanouts.end()}};
  std::vector<Tensor> embeddings;
  for (int64_t first = own.first; first < own.last; first += batch_size) {
    std::vector<int64_t> seeds(static_cast<size_t>(std::min(batch_size, own.last - first)));
    std::iota(seeds.begin(), seeds.end(), first);
    const Batch batch = sample_batch(graph, seeds, sampling, {seed, 0, first}).to(inputs.device());
    State state = model.start(inputs, batch.nodes);
    for (int64_t l = 0; l < model.block_count(); ++l) {
      const auto [block, links] = inputs.links_of(batch.blocks[static_cast<size_t>(l)]);
      state = model.step(l, state, block, links, {});
    }
    embeddings.push_back(model.embedding(state));
  }
  const Tensor embedding = divided.all(at::cat(embeddings));
  return {embedding, model.decoder() == nullptr ? model.head(embedding, {}) : Tensor()};
}

}  // namespace lase
