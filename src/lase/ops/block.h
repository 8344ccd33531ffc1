#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>

#include "lase/ops/device.h"
#include "lase/ops/rows.h"

namespace lase {

// The bipartite graph that one layer reads: for each target u, the sampled arcs of N(u).
//
//   Σ_{i in row u} weight[i] x(source[i], link[i])
//
// estimates the sum over N(u). The weight is 1 for a full neighborhood; with sampling, it is the
// inverse of the expected number of times that the arc is sampled.
struct Block {
  int64_t sources = 0;   // rows of the layer's input
  at::Tensor target;     // int64 [targets]: the row of each target in the layer's input
  bool leading = false;  // the targets are the first sources: `target` is 0, 1, …
  at::Tensor row_ptr;    // int64 [targets+1]: from 0 to the number of arcs
  at::Tensor source;     // int32 [arcs]: the row of v in the layer's input
  at::Tensor link;       // int32 or int64 [arcs]: the row of f(e)
  at::Tensor weight;     // float [arcs]; undefined: 1
  at::Tensor degree;     // float [sources]: |N(v)| in the graph that was sampled
  int64_t padding = 0;   // arcs at the end that belong to no target; see BatchSlot
  // For the gradient of the layer's input; undefined: computed in the backward pass.
  at::Tensor by_source;   // int64 [arcs]: the arcs sorted by source
  at::Tensor arc_target;  // int32 [arcs]: the target of each arc

  int64_t targets() const { return target.size(0); }
  int64_t arcs() const { return source.size(0); }
  int64_t sampled() const { return arcs() - padding; }

  // The rows of the targets, given those of the sources.
  ops::Rows own(const ops::Rows& x) const {
    if (!leading || !x.index.defined()) return x.at(target);
    return {x.matrix, x.index.narrow(0, 0, targets())};
  }
  at::Tensor own(const at::Tensor& x) const {
    return leading ? x.narrow(0, 0, targets()) : x.index_select(0, target);
  }

  // Moves to a device; does not copy tensors that are already there.
  Block to(const at::Device& device) const {
    Block block = *this;
    for (at::Tensor* x : {&block.target, &block.row_ptr, &block.source, &block.link, &block.weight,
                          &block.degree, &block.by_source, &block.arc_target}) {
      *x = ops::move(*x, device);
    }
    return block;
  }
};

}  // namespace lase
