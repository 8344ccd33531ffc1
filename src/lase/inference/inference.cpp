#include "lase/inference/inference.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <numeric>

#include "lase/base/denormals.h"
#include "lase/base/error.h"
#include "lase/base/memory.h"

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

  WholeGraph(const Model& of, const Inputs& from, const Adjacency& on, int64_t chunk_arcs)
      : model(of), inputs(from), graph(on), arcs(chunk_arcs), degree(degrees(on)) {
    if (arcs > 0) return;
    // Max aggregation stores all terms of a chunk: [arcs, d].
    arcs = model.options().aggregate == ops::Aggregate::kMax ? 1 << 17 : 1 << 22;
  }

  int64_t nodes() const { return graph.row_ptr.size() - 1; }

  // Calls visit(state, first) with the output of layer l for every chunk of nodes.
  template <class Visit>
  void step(int64_t l, const State& state, const Visit& visit) const {
    for (int64_t first = 0; first < nodes();) {
      const int64_t last = chunk_end(graph, first, arcs);
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

Outputs infer(const Model& model, const Inputs& inputs, const Adjacency& graph, Keep keep,
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
  }
  return outputs;
}

std::vector<LayerPass> exact_pass(const Model& model, const Inputs& inputs, const Adjacency& graph,
                                  std::optional<ops::Score> score) {
  c10::NoGradGuard no_grad;
  const FlushDenormals flush;
  require(sums_terms(model.options()), OptionName{"aggregate"},
          " max: an exact pass requires sum or mean");
  const int64_t nodes = graph.row_ptr.size() - 1;
  const Block block = whole_block(graph, degrees(graph), 0, nodes).to(inputs.device());
  std::vector<LayerPass> layers;
  State state = model.start(inputs, Tensor());
  for (int64_t l = 0; l < model.block_count(); ++l) {
    const LayerInput in{state, block, inputs.links(), {}};
    const auto parts = model.layer(l).sums(in);
    LayerPass pass{{state, {}}, {}};
    for (const auto& part : parts) {
      require_memory(static_cast<double>(nodes * part.width()) * sizeof(float),
                     "the exact sums of all nodes", "set ", OptionName{"strategy"},
                     " to uniform, or ", OptionName{"refresh"}, " to lazy");
      if (!score) {
        pass.baseline.sums.push_back(ops::gated_sum(part, block));
        continue;
      }
      const bool by_norm = *score == ops::Score::kNorm;
      const auto [s, found] = ops::gated_sum_with_scores(
          part, block, *score, by_norm ? model.layer(l).factor(in) : Tensor());
      pass.baseline.sums.push_back(s);
      // The terms of several sums count as one concatenated vector.
      pass.score = pass.score.defined() && by_norm ? at::hypot(pass.score, found) : found;
    }
    if (l + 1 < model.block_count()) {
      state = model.finish(l, model.layer(l).update(in, parts, pass.baseline.sums));
    }
    layers.push_back(std::move(pass));
  }
  return layers;
}

Outputs infer_sampled(const Model& model, const Inputs& inputs, const Adjacency& graph,
                      std::span<const int64_t> fanouts, uint64_t seed, int64_t batch_size) {
  c10::NoGradGuard no_grad;
  const FlushDenormals flush;
  const int64_t nodes = graph.row_ptr.size() - 1;
  require_outputs(model, nodes);
  const Sampling sampling{.fanouts = {fanouts.begin(), fanouts.end()}};
  std::vector<Tensor> embeddings;
  for (int64_t first = 0; first < nodes; first += batch_size) {
    std::vector<int64_t> seeds(static_cast<size_t>(std::min(batch_size, nodes - first)));
    std::iota(seeds.begin(), seeds.end(), first);
    const Batch batch = sample_batch(graph, seeds, sampling, {seed, 0, first}).to(inputs.device());
    State state = model.start(inputs, batch.nodes);
    for (int64_t l = 0; l < model.block_count(); ++l) {
      state = model.step(l, state, batch.blocks[static_cast<size_t>(l)], inputs.links(), {});
    }
    embeddings.push_back(model.embedding(state));
  }
  const Tensor embedding = at::cat(embeddings);
  return {embedding, model.decoder() == nullptr ? model.head(embedding, {}) : Tensor()};
}

}  // namespace lase
