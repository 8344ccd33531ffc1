#pragma once

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <cstdint>
#include <limits>
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
  // Link prediction: which outputs are not those of negative samples, such as those of links; bool
  // [links, outputs per link]. Undefined: none.
  at::Tensor excluded = {};

  const Pairs* links() const { return pairs ? &*pairs : nullptr; }
  // Moves to a device; does not copy tensors that are already there.
  Query to(const at::Device& device) const;
};

// What is hidden while seeds are scored in training.
struct Hidden {
  HiddenArcs arcs;    // pass no messages
  at::Tensor labels;  // bool [nodes]: the nodes whose labels are not inputs; undefined: none

  // Null if there are none.
  const HiddenArcs* some_arcs() const { return arcs.empty() ? nullptr : &arcs; }
};

// The seeds of a task: what is sampled in batches, scored and predicted. A seed is a number, of a
// node or of a target link.
class Seeds {
 public:
  Seeds() = default;
  Seeds(const Seeds&) = delete;
  Seeds& operator=(const Seeds&) = delete;
  virtual ~Seeds() = default;

  // Whether seeds hide anything while they are scored in training, and what.
  virtual bool hides() const { return false; }
  virtual Hidden hidden(const Adjacency& /*graph*/, std::span<const int64_t> /*seeds*/) const {
    return {};
  }
  // The number of seeds, of n, that may be hidden at once.
  virtual int64_t most_hidden(int64_t /*n*/) const { return std::numeric_limits<int64_t>::max(); }
  // What a training step requires, including negative samples.
  virtual Query training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                               const SampleKey& key) const = 0;
  // What exact outputs require.
  virtual Query query(std::span<const int64_t> seeds, const VisibleGraph& graph) const = 0;
  // Number of pairs of query() per seed.
  virtual int64_t pairs_per_seed() const { return 0; }
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
  // `label_inputs`: known labels are inputs, except those of the seeds.
  explicit NodeSeeds(bool label_inputs = false) : label_inputs_(label_inputs) {}

  bool hides() const override { return label_inputs_; }
  Hidden hidden(const Adjacency& graph, std::span<const int64_t> seeds) const override;
  // Predictions see the labels of all training nodes, so most of them should be visible.
  int64_t most_hidden(int64_t n) const override {
    return label_inputs_ ? std::max<int64_t>(1, n / 2) : Seeds::most_hidden(n);
  }
  Query training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                       const SampleKey&) const override {
    return query(seeds, graph);
  }
  Query query(std::span<const int64_t> seeds, const VisibleGraph&) const override {
    return {.nodes = {seeds.begin(), seeds.end()}};
  }

 private:
  bool label_inputs_;
};

// Exact outputs of seeds. Pairs are made in chunks, so that memory does not grow with their number.
class Evaluation {
 public:
  // `kind`, `seeds` and the graph must outlive the object.
  Evaluation(const Seeds& kind, std::span<const int64_t> seeds, const VisibleGraph& graph);

  // The nodes whose embeddings are required.
  const std::vector<int64_t>& nodes() const { return nodes_; }
  // As Objective::score expects them, on the CPU, from the embeddings of nodes().
  at::Tensor outputs(const Model& model, const Inputs& inputs, const at::Tensor& embedding) const;

 private:
  struct Chunk {
    Query query;
    at::Tensor rows;  // int64 [nodes of the query]: in the embeddings of nodes()
  };
  std::span<const int64_t> seeds_of(int64_t chunk) const;
  int64_t chunks() const;

  const Seeds& kind_;
  std::span<const int64_t> seeds_;
  VisibleGraph graph_;
  int64_t size_;  // seeds per chunk
  std::vector<int64_t> nodes_;
  std::vector<Chunk> kept_;  // empty: too large; made again for every outputs()
};

// What a decoder requires of pairs.
struct PairRules {
  bool symmetric = false;   // the order of the two nodes does not matter
  bool statistics = false;  // it reads pair_statistics()
  bool product = false;     // its scores are products; see ScoreFactors
};

// Target links with labels. While a link is scored, it, its reverse and its parallel copies pass no
// messages.
class LinkSeeds : public Seeds {
 public:
  // `targets` must outlive the seeds.
  LinkSeeds(const LinkTargets& targets, const PairRules& rules)
      : targets_(targets), rules_(rules) {}

  bool hides() const override { return true; }
  Hidden hidden(const Adjacency& graph, std::span<const int64_t> seeds) const override;
  // Most links should pass messages.
  int64_t most_hidden(int64_t n) const override { return std::max<int64_t>(1, n / 10); }
  Query training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                       const SampleKey& key) const override;
  Query query(std::span<const int64_t> seeds, const VisibleGraph& graph) const override;
  int64_t pairs_per_seed() const override { return 1; }

 protected:
  const LinkTargets& targets() const { return targets_; }
  const PairRules& rules() const { return rules_; }
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

    std::vector<int32_t> candidates = {};  // nodes to score in place of every end

    void add(int32_t u, int32_t v, int64_t row) {
      source.push_back(u);
      target.push_back(v);
      link.push_back(row);
    }
  };
  Query query_of(const Ends& ends, const VisibleGraph& graph) const;

 private:
  const LinkTargets& targets_;
  PairRules rules_;
};

}  // namespace lase
