#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <vector>

#include "lase/graph/divided_graph.h"
#include "lase/inference/inference.h"
#include "lase/model/model.h"
#include "lase/ops/fetched_rows.h"

namespace lase {

// Limits on what a process fetches from other processes at once.
struct FetchLimits {
  // Maximum number of remote neighbors (halo) whose states are fetched all at once, or the number
  // of local nodes if that is larger.
  int64_t few = 1 << 16;
  // Otherwise, the number of bytes of states fetched at a time. Several copies of them exist during
  // a fetch.
  int64_t bytes = 96 << 20;
};

// Exact layer-wise passes over a graph that is divided among processes. Each process computes its
// local rows and fetches the states of remote neighbors (the halo). If the halo of every process is
// small, its states are fetched once per layer and its features only once; otherwise, states are
// fetched for a range of local rows at a time.
class DividedPass {
 public:
  // `arcs`: the local arcs over which neighborhoods are summed; `inputs`: of the local rows. All
  // current processes call this and the following functions. The arguments must outlive the object.
  DividedPass(const Model& model, const Inputs& inputs, const DividedGraph& graph,
              const Adjacency& arcs, const FetchLimits& limits = {});

  // Of the local rows.
  Outputs infer(Keep keep = Keep::kAll) const;
  // Of the local rows, and the scores of their arcs if requested.
  std::vector<LayerPass> exact_pass(std::optional<ops::Score> score = std::nullopt) const;

 private:
  // The neighbors that other processes have.
  struct Halo {
    ops::FetchedRows rows;
    std::vector<int32_t> source;  // [own arcs]: the own row of each neighbor, or after these, its
                                  // number in the halo
    at::Tensor degree;            // of the own rows and the halo
  };
  void find_halo(int64_t most);

  // Calls visit(first, input) for ranges of own rows that start at `first`, with the input of layer
  // l: the states of the rows and of their neighbors, from the states of the own rows of each
  // process.
  template <class Visit>
  void for_rows(int64_t l, const State& own, const Visit& visit) const;
  template <class Visit>
  void for_rows_with_halo(int64_t l, const State& own, const Visit& visit) const;
  // Where these ranges start, and where the last one ends; as many in every process.
  std::vector<int64_t> ranges(const State& own) const;

  const Model& model_;
  const Inputs& inputs_;
  const DividedGraph& graph_;
  const Adjacency& arcs_;
  ProcessGroup& group_;
  int64_t bytes_;              // that are fetched at once, without a halo
  at::Tensor degree_;          // [own rows]
  std::optional<Halo> halo_;   // unless it is large
  mutable State first_layer_;  // features of the own rows and the halo, after the first pass
};

}  // namespace lase
