#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lase/base/process_group.h"
#include "lase/graph/divided_graph.h"
#include "lase/sampler/sampler.h"

namespace lase {

// Samples batches from a graph that is divided among processes. Each row is sampled by the process
// that has it, with the random numbers of the process that asks, so that the arcs are those that
// sample_batch() samples from the whole graph.
class DividedSampler {
 public:
  // `arcs`: those of the own rows of the graph that may be sampled. All arguments must outlive the
  // sampler.
  DividedSampler(const DividedGraph& graph, const Adjacency& arcs, const Sampling& sampling);

  struct Seeds {
    std::vector<int64_t> nodes;
    int64_t batch = 0;  // in place of that of the key
  };
  struct Sampled {
    std::vector<BatchBuilder> batches;  // with all layers; one for each of the seeds
    Attributes links;                   // the attributes of all arcs; `link` of a block is a row
  };
  // All processes of the group call this with the same key, each with its own seeds.
  Sampled sample(ProcessGroup& group, std::span<const Seeds> seeds, const SampleKey& key) const;

 private:
  Message answer(const Message& question, size_t layer, const SampleKey& key) const;

  const DividedGraph& graph_;
  const Adjacency& arcs_;
  const Sampling& sampling_;
};

}  // namespace lase
