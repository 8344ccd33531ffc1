#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/model/decoder.h"
#include "lase/model/model.h"
#include "lase/sampler/pair_statistics.h"
#include "lase/sampler/sampler.h"

namespace lase {

// What some seeds require: the embeddings of distinct nodes, and if the seeds are links, the pairs
// of these nodes to score.
struct Query {
  std::vector<int64_t> nodes = {};
  std::optional<Pairs> pairs = {};
  at::Tensor excluded = {};  // bool [pairs]: candidates that are not negative; undefined: none

  const Pairs* links() const { return pairs ? &*pairs : nullptr; }
};

// The seeds of a task: what is sampled in batches, scored and predicted. A seed is a number, of a
// node or of a target link.
class Seeds {
 public:
  Seeds() = default;
  Seeds(const Seeds&) = delete;
  Seeds& operator=(const Seeds&) = delete;
  virtual ~Seeds() = default;

  // Arcs that pass no messages while these seeds are scored in training.
  virtual HiddenArcs hidden(const Adjacency& /*graph*/, std::span<const int64_t> /*seeds*/) const {
    return {};
  }
  virtual bool hides() const { return false; }
  // What a training step requires, including negative samples.
  virtual Query training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                               const SampleKey& key) const = 0;
  // What exact outputs require.
  virtual Query query(std::span<const int64_t> seeds, const VisibleGraph& graph) const = 0;
  // Exact outputs, one row per seed, as Objective::score expects them, from the embeddings of the
  // nodes of query().
  virtual at::Tensor evaluate(const Model& model, const Inputs& inputs,
                              std::span<const int64_t> /*seeds*/, const Query& query,
                              const at::Tensor& embedding) const {
    return model.outputs(inputs, embedding, query.links(), {});
  }
};

// Seeds that are nodes.
const Seeds& node_seeds();

class NodeSeeds : public Seeds {
 public:
  Query training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                       const SampleKey&) const override {
    return query(seeds, graph);
  }
  Query query(std::span<const int64_t> seeds, const VisibleGraph&) const override {
    return {.nodes = {seeds.begin(), seeds.end()}};
  }
};

// Target links with labels. While a link is scored, it, its reverse and its parallel copies pass no
// messages.
class LinkSeeds : public Seeds {
 public:
  // `targets` must outlive the seeds. `statistics`: whether the decoder reads them.
  LinkSeeds(const LinkTargets& targets, bool symmetric, bool statistics)
      : targets_(targets), symmetric_(symmetric), statistics_(statistics) {}

  bool hides() const override { return true; }
  HiddenArcs hidden(const Adjacency& graph, std::span<const int64_t> seeds) const override;
  Query training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                       const SampleKey& key) const override;
  Query query(std::span<const int64_t> seeds, const VisibleGraph& graph) const override;

 protected:
  const LinkTargets& targets() const { return targets_; }
  bool symmetric() const { return symmetric_; }
  // The pairs source[i], target[i] with the attributes of link[i].
  struct Ends {
    void reserve(size_t pairs) {
      source.reserve(pairs);
      target.reserve(pairs);
      link.reserve(pairs);
    }

    std::vector<int32_t> source = {};
    std::vector<int32_t> target = {};
    std::vector<int64_t> link = {};

    void add(int32_t u, int32_t v, int64_t row) {
      source.push_back(u);
      target.push_back(v);
      link.push_back(row);
    }
  };
  Query query_of(const Ends& ends, const VisibleGraph& graph) const;

 private:
  const LinkTargets& targets_;
  bool symmetric_;
  bool statistics_;
};

}  // namespace lase
