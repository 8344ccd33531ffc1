#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lase/base/random.h"
#include "lase/graph/graph.h"
#include "lase/inference/link_options.h"
#include "lase/inference/seeds.h"

namespace lase {

// In place of kAuto: all nodes if that takes little time.
Ranking ranking_for(Ranking wanted, const Decoder& decoder, int64_t nodes, int64_t links);

// The links of a graph and its targets by their nodes and relation.
class KnownLinks {
 public:
  enum class Splits : uint8_t { kAll, kTrain };
  // With `symmetric`, a link joins both nodes to each other.
  KnownLinks(const Graph& graph, bool symmetric, Splits splits);

  // Relation of a target link; 0 if links have none.
  int64_t relation(int64_t target) const;
  // Nodes known to be linked from u, or to v, by this relation, ascending, maybe repeated.
  std::span<const int32_t> targets_of(int64_t u, int64_t relation) const;
  std::span<const int32_t> sources_of(int64_t v, int64_t relation) const;
  bool linked(int64_t u, int64_t v, int64_t relation) const;

 private:
  // The other ends of links, sorted by (node, relation, other end).
  struct Index {
    std::vector<int64_t> key;  // distinct (node, relation)
    std::vector<int64_t> start;
    std::vector<int32_t> other;
    std::span<const int32_t> of(int64_t wanted) const;
  };
  static Index make_index(std::vector<std::pair<int64_t, int32_t>> entries);

  const LinkTargets& targets_;
  int64_t relations_ = 1;
  Index by_source_;
  Index by_target_;
};

// Links to be predicted. In training, each is compared with negative samples; exact outputs are
// ranks among candidates, for Objective::score of link prediction:
//
//   [n, 4]: rank of v for (u, e), rank of u for (e, v), score of the link, score of a random pair
//
// A rank is 1 + the number of better candidates + half of the equal ones.
class PredictedLinks : public LinkSeeds {
 public:
  // `graph`, with its targets, must outlive the seeds. The ranking must not be kAuto. Evaluation
  // uses the random numbers of `seed`.
  PredictedLinks(const Graph& graph, bool symmetric, bool statistics,
                 const LinkPredictionOptions& options, uint64_t seed);

  Query training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                       const SampleKey& key) const override;
  Query query(std::span<const int64_t> seeds, const VisibleGraph& graph) const override;
  at::Tensor evaluate(const Model& model, const Inputs& inputs, std::span<const int64_t> seeds,
                      const Query& query, const at::Tensor& embedding) const override;

  // The same from the scores of all pairs of query() [n, pairs per link], with sampled ranks.
  static at::Tensor sampled_ranks(const at::Tensor& scores);
  // Number of sampled candidates for one end of a link.
  static constexpr int64_t kCandidates = 100;

 private:
  int64_t negative(int64_t u, const VisibleGraph& graph, Random& random) const;
  void add_random_pair(int64_t seed, Ends& ends) const;
  void add_candidates(int64_t seed, Ends& ends) const;
  at::Tensor ranks(const Model& model, const Inputs& inputs, std::span<const int64_t> seeds,
                   const at::Tensor& embedding) const;
  bool filters() const { return options_.ranking == Ranking::kFiltered; }

  const Graph& graph_;
  LinkPredictionOptions options_;
  uint64_t seed_;
  KnownLinks known_;
  KnownLinks training_;
};

}  // namespace lase
