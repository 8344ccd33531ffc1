#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lase/base/random.h"
#include "lase/graph/graph.h"
#include "lase/inference/link_options.h"
#include "lase/inference/seeds.h"
#include "lase/ingest/node_pairs.h"

namespace lase {

// In place of kAuto: all nodes if that takes little time.
Ranking ranking_for(Ranking wanted, const Decoder& decoder, int64_t nodes, int64_t links);

// The other ends of links by a key, such as a node, ascending and maybe repeated.
class EndIndex {
 public:
  EndIndex() = default;
  explicit EndIndex(std::vector<std::pair<int64_t, int32_t>> entries);  // key, other end
  std::span<const int32_t> of(int64_t key) const;

 private:
  std::vector<int64_t> key_;  // distinct, ascending
  std::vector<int64_t> start_;
  std::vector<int32_t> other_;
};

// The target links of a graph by their nodes and relation. If all links are targets and have
// neither a direction nor a relation, these are the links of the graph, which are not copied.
class KnownLinks {
 public:
  enum class Splits : uint8_t { kAll, kTrain };
  // With `symmetric`, a link joins both nodes to each other.
  KnownLinks(const Graph& graph, bool symmetric, Splits splits);

  // Relation of a target link, the number of relations if the link has none; 0 if no link has one.
  int64_t relation(int64_t target) const;
  // Nodes known to be linked from u, or to v, by this relation, ascending, maybe repeated.
  std::span<const int32_t> targets_of(int64_t u, int64_t relation) const;
  std::span<const int32_t> sources_of(int64_t v, int64_t relation) const;
  bool linked(int64_t u, int64_t v, int64_t relation) const;

 private:
  int64_t key(int64_t node, int64_t relation) const { return node * relations_ + relation; }

  const LinkTargets& targets_;
  int64_t relations_ = 1;           // with that of links without one
  std::optional<Adjacency> links_;  // if these are the links of the graph
  EndIndex by_source_;              // otherwise
  EndIndex by_target_;
};

// Links to be predicted. In training, each is compared with negative samples; exact outputs are
// ranks among candidates and scores, [n, kRankedColumns], for Objective::score of link prediction.
// A rank is 1 + the number of better candidates + half of the equal ones.
enum RankedColumn : int64_t {
  kTargetRank,  // of v for (u, e)
  kSourceRank,  // of u for (e, v)
  kLinkScore,
  kRandomScore,  // of a random pair
  kRankedColumns
};

class PredictedLinks : public LinkSeeds {
 public:
  // `graph`, with its targets, must outlive the seeds. The ranking must not be kAuto. Evaluation
  // uses the random numbers of `seed`. `negatives`: pairs to sample from in training, if any.
  PredictedLinks(const Graph& graph, const PairRules& rules, const LinkPredictionOptions& options,
                 uint64_t seed, const NodePairs& negatives = {});

  Query training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                       const SampleKey& key) const override;
  Query query(std::span<const int64_t> seeds, const VisibleGraph& graph) const override;
  int64_t pairs_per_seed() const override { return ranks_all() ? 2 : 2 + 2 * kCandidates; }
  at::Tensor evaluate(const Model& model, const Inputs& inputs, std::span<const int64_t> seeds,
                      const Query& query, const at::Tensor& embedding) const override;

  // The same from the scores of all pairs of query() [n, pairs per link], with sampled ranks.
  static at::Tensor sampled_ranks(const at::Tensor& scores);
  // Number of sampled candidates for one end of a link.
  static constexpr int64_t kCandidates = 100;

 private:
  struct Pair {
    int32_t source;
    int32_t target;
  };
  bool shares_negatives() const;
  Query shared_negatives(std::span<const int64_t> seeds, const VisibleGraph& graph,
                         const SampleKey& key) const;
  int32_t negative(int64_t u, const VisibleGraph& graph, Random& random) const;
  Pair negative_from_file(const Pair& link, bool replaces_target, Random& random) const;
  // Whether a pair is a training link, or no pair at all; `graph` is the training graph.
  bool is_excluded(const Pair& pair, int64_t relation, const VisibleGraph& graph) const;
  void add_random_pair(int64_t seed, Ends& ends) const;
  void add_candidates(int64_t seed, Ends& ends) const;
  at::Tensor ranks(const Model& model, const Inputs& inputs, std::span<const int64_t> seeds,
                   const at::Tensor& embedding) const;
  bool ranks_all() const { return options_.ranking != Ranking::kSampled; }

  const Graph& graph_;
  LinkPredictionOptions options_;
  uint64_t seed_;
  KnownLinks known_;
  std::optional<KnownLinks> training_;  // unless symmetric
  NodePairs file_;
  EndIndex file_by_source_;
  EndIndex file_by_target_;
};

}  // namespace lase
