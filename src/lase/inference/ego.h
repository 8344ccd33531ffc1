#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lase/inference/label_passes.h"
#include "lase/model/model.h"
#include "lase/model/model_file.h"

namespace lase {

// A model applied to a graph; shared by all explanations.
struct Network {
  const TrainedModel& trained;
  const Graph& graph;
  Adjacency arcs;
  LabelPasses passes;

  Network(const TrainedModel& of, const Graph& on)
      : trained(of),
        graph(on),
        arcs(static_cast<const Adjacency&>(on)),
        passes(Inputs(on, of.scaling, ScaleWhen::kOnDemand)) {}
  const Model& model() const { return *trained.model; }
  int64_t last_layer() const { return model().block_count() - 1; }
};

// Outputs [n, outputs] for embeddings [n, d] of a node: those of the head, or of the decoder for a
// link of the node whose other end is fixed.
using Readout = std::function<at::Tensor(const at::Tensor& embedding)>;

// The computation graph of one node u from a given layer on, with whole neighborhoods. u is row 0
// of every state, so a change to one of its links in layer l changes only row 0 of the next state.
class Ego {
 public:
  // Outputs are those of the head.
  Ego(const Network& network, int64_t node);
  Ego(const Network& network, int64_t node, Readout readout);
  // Only the last layer, given its input for all nodes.
  Ego(const Network& network, int64_t node, const State& last_input);

  const Model& model() const { return network_.model(); }
  const LinkAttributes& links() const { return inputs_.links(); }
  int64_t first_layer() const { return first_; }
  int64_t last_layer() const { return network_.last_layer(); }
  const State& input(int64_t l) const { return states_[static_cast<size_t>(l - first_)]; }

  // The arcs of u in layer l, as a block with the single target u.
  Block own_block(int64_t l) const;
  // The nodes at the other ends of these arcs: int64 [arcs].
  at::Tensor neighbors(const Block& own) const;

  at::Tensor embedding() const;  // [1, d]
  at::Tensor outputs() const;    // [outputs]
  // Outputs [n, outputs] if u had each of the n given states after layer l; l = first_layer() − 1
  // for the input of the first layer.
  at::Tensor outputs_with(int64_t l, const State& own) const;
  // Outputs [outputs] if u had no links of its own and, if given, this one state before the first
  // layer.
  at::Tensor outputs_without_links(const State* own = nullptr) const;
  // Number of arcs of all layers.
  int64_t arcs() const { return arcs_after(first_ - 1); }
  // Number of arcs to sum over again for each row of outputs_with().
  int64_t arcs_after(int64_t l) const;

 private:
  Ego(const Network& network, int64_t node, int64_t first_layer, Readout readout);
  void run_layers();
  const Block& block(int64_t l) const { return batch_.blocks[static_cast<size_t>(l - first_)]; }
  at::Tensor read_out(const State& state) const { return readout_(model().embedding(state)); }

  const Network& network_;
  const Inputs& inputs_;  // without the label of the node
  int64_t first_;
  Readout readout_;
  Batch batch_;
  std::vector<State> states_;
};

}  // namespace lase
