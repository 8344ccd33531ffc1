#include "lase/inference/link_prediction.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/inference/link_task.h"
#include "lase/ops/device.h"
#include "lase/ops/linear.h"

namespace lase {

using at::Tensor;

namespace {

constexpr uint64_t kNegativeStream = 0x4E454741;
constexpr uint64_t kRandomPairStream = 0x50414952;
constexpr uint64_t kCandidateStream = 0x43414E44;

}  // namespace

// ---- Known links

EndIndex::EndIndex(std::vector<std::pair<int64_t, int32_t>> entries) {
  std::sort(entries.begin(), entries.end());
  for (const auto& [key, other] : entries) {
    if (key_.empty() || key_.back() != key) {
      key_.push_back(key);
      start_.push_back(std::ssize(other_));
    }
    other_.push_back(other);
  }
  start_.push_back(std::ssize(other_));
}

std::span<const int32_t> EndIndex::of(int64_t key) const {
  const auto found = std::lower_bound(key_.begin(), key_.end(), key);
  if (found == key_.end() || *found != key) return {};
  const auto i = static_cast<size_t>(found - key_.begin());
  return std::span(other_).subspan(static_cast<size_t>(start_[i]),
                                   static_cast<size_t>(start_[i + 1] - start_[i]));
}

namespace {

std::span<const int32_t> neighbors_of(const Adjacency& graph, int64_t u) {
  return graph.neighbor.span().subspan(static_cast<size_t>(graph.row_ptr[u]),
                                       static_cast<size_t>(graph.degree(u)));
}

bool contains(std::span<const int32_t> ascending, int64_t node) {
  return std::binary_search(ascending.begin(), ascending.end(), static_cast<int32_t>(node));
}

}  // namespace

KnownLinks::KnownLinks(const Graph& graph, bool symmetric, Splits splits)
    : targets_(graph.targets),
      relations_(targets_.relations ? targets_.attributes.columns + 1 : 1) {
  const bool all = splits == Splits::kAll;
  if (symmetric && targets_.derived) {
    links_ = all ? static_cast<const Adjacency&>(graph) : visible_links(graph, Split::kTrain);
    return;
  }
  const Adjacency training = all ? Adjacency() : visible_links(graph, Split::kTrain);
  // Targets without a split are known in training if their nodes are linked there.
  const auto counts = [&](int64_t i) {
    if (all || targets_.split.empty()) return true;
    const auto split = static_cast<Split>(targets_.split[i]);
    return split == Split::kTrain ||
           (split == Split::kNone &&
            contains(neighbors_of(training, targets_.source[i]), targets_.target[i]));
  };
  std::vector<std::pair<int64_t, int32_t>> from;
  std::vector<std::pair<int64_t, int32_t>> to;
  for (int64_t i = 0; i < targets_.size(); ++i) {
    if (!counts(i)) continue;
    const int64_t r = relation(i);
    from.emplace_back(key(targets_.source[i], r), targets_.target[i]);
    to.emplace_back(key(targets_.target[i], r), targets_.source[i]);
    if (!symmetric) continue;
    from.emplace_back(key(targets_.target[i], r), targets_.source[i]);
    to.emplace_back(key(targets_.source[i], r), targets_.target[i]);
  }
  by_source_ = EndIndex(std::move(from));
  by_target_ = EndIndex(std::move(to));
}

int64_t KnownLinks::relation(int64_t target) const {
  int64_t relation = relations_ - 1;
  if (!targets_.relations) return relation;
  targets_.attributes.for_each(target, [&](int64_t column, float value) {
    if (value != 0) relation = column;
  });
  return relation;
}

std::span<const int32_t> KnownLinks::targets_of(int64_t u, int64_t relation) const {
  return links_ ? neighbors_of(*links_, u) : by_source_.of(key(u, relation));
}

std::span<const int32_t> KnownLinks::sources_of(int64_t v, int64_t relation) const {
  return links_ ? neighbors_of(*links_, v) : by_target_.of(key(v, relation));
}

bool KnownLinks::linked(int64_t u, int64_t v, int64_t relation) const {
  return contains(targets_of(u, relation), v);
}

// ---- Links to be predicted

PredictedLinks::PredictedLinks(const Graph& graph, const PairRules& rules,
                               const LinkPredictionOptions& options, uint64_t seed,
                               const NodePairs& negatives)
    : LinkSeeds(graph.targets, rules),
      graph_(graph),
      options_(options),
      seed_(seed),
      known_(graph, rules.symmetric, KnownLinks::Splits::kAll),
      file_(negatives) {
  if (!rules.symmetric) training_.emplace(graph, false, KnownLinks::Splits::kTrain);
  std::vector<std::pair<int64_t, int32_t>> from;
  std::vector<std::pair<int64_t, int32_t>> to;
  const auto add = [&](int32_t u, int32_t v) {
    from.emplace_back(u, v);
    to.emplace_back(v, u);
  };
  for (size_t i = 0; i < file_.source.size(); ++i) {
    add(file_.source[i], file_.target[i]);
    if (rules.symmetric) add(file_.target[i], file_.source[i]);
  }
  file_by_source_ = EndIndex(std::move(from));
  file_by_target_ = EndIndex(std::move(to));
}

// A node in place of the other end of a link of u.
int32_t PredictedLinks::negative(int64_t u, const VisibleGraph& graph, Random& random) const {
  const Adjacency& arcs = graph.arcs;
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
  };
  const auto neighbor = [&](int64_t w) {
    return arcs.neighbor[arcs.row_ptr[w] + below(arcs.degree(w))];
  };
  if (options_.sampling == NegativeSampling::kDegree && arcs.arc_count() > 0) {
    return arcs.neighbor[below(arcs.arc_count())];
  }
  if (options_.sampling == NegativeSampling::kTwoHop && arcs.degree(u) > 0) {
    const int64_t w = neighbor(u);
    if (arcs.degree(w) > 0) return neighbor(w);
  }
  return static_cast<int32_t>(below(graph_.node_count()));
}

PredictedLinks::Pair PredictedLinks::negative_from_file(const Pair& link, bool replaces_target,
                                                        Random& random) const {
  const auto others =
      replaces_target ? file_by_source_.of(link.source) : file_by_target_.of(link.target);
  const size_t pairs = others.empty() ? file_.source.size() : others.size();
  const size_t i = random.below(pairs);
  if (others.empty()) return {file_.source[i], file_.target[i]};
  return replaces_target ? Pair{link.source, others[i]} : Pair{others[i], link.target};
}

bool PredictedLinks::is_excluded(const Pair& pair, int64_t relation,
                                 const VisibleGraph& graph) const {
  const auto [u, v] = pair;
  if (u == v) return true;
  return training_ ? training_->linked(u, v, relation) : contains(neighbors_of(graph.arcs, u), v);
}

// All links of a batch have the same negative samples, if these do not depend on the link, and if
// one matrix product scores them.
bool PredictedLinks::shares_negatives() const {
  return rules().product && options_.sampling != NegativeSampling::kTwoHop && file_.source.empty();
}

// Outputs [n, 1 + 2 m]: the link, and each of m nodes in place of its target, and of its source.
Query PredictedLinks::shared_negatives(std::span<const int64_t> seeds, const VisibleGraph& graph,
                                       const SampleKey& key) const {
  constexpr int64_t kUsual = 1024;
  const int64_t m = (options_.negatives.value_or(kUsual) + 1) / 2;
  const auto n = std::ssize(seeds);
  Ends ends;
  ends.reserve(seeds.size());
  for (const int64_t seed : seeds) ends.add(targets().source[seed], targets().target[seed], seed);
  for (int64_t j = 0; j < m; ++j) {
    Random random(key.seed, kNegativeStream, key.epoch, key.batch, j);
    ends.candidates.push_back(negative(0, graph, random));
  }
  Query query = query_of(ends, graph);
  query.excluded = at::zeros({n, 1 + 2 * m}, at::kBool);
  auto* excluded = query.excluded.data_ptr<bool>();
  for (const int64_t seed : seeds) {
    const int32_t u = targets().source[seed];
    const int32_t v = targets().target[seed];
    const int64_t relation = known_.relation(seed);
    *excluded++ = false;
    for (const int32_t w : ends.candidates) *excluded++ = is_excluded({u, w}, relation, graph);
    for (const int32_t w : ends.candidates) *excluded++ = is_excluded({w, v}, relation, graph);
  }
  return query;
}

// Each link is followed by its negative samples, in which the target and the source are replaced
// alternately. Unless samples depend on the link, the links of a batch choose from as many nodes as
// there are links, so that few more embeddings have to be computed.
Query PredictedLinks::training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                                     const SampleKey& key) const {
  if (shares_negatives()) return shared_negatives(seeds, graph, key);
  constexpr int64_t kUsual = 16;
  const auto negatives = static_cast<size_t>(options_.negatives.value_or(kUsual));
  const size_t n = seeds.size();
  const bool from_file = !file_.source.empty();
  const bool pools = options_.sampling != NegativeSampling::kTwoHop && !from_file;
  // The number of a seed in its batch, of which these may be a chunk.
  const auto number = [&](size_t i) { return key.first_seed + static_cast<int64_t>(i); };
  std::vector<int32_t> pool;
  for (size_t i = 0; pools && i < std::max(n, negatives); ++i) {
    Random random(key.seed, kNegativeStream, key.epoch, key.batch, number(i));
    pool.push_back(negative(0, graph, random));
  }
  Ends ends;
  ends.reserve(n * (1 + negatives));
  Tensor excluded = at::zeros({std::ssize(seeds), static_cast<int64_t>(1 + negatives)}, at::kBool);
  auto* is_link = excluded.data_ptr<bool>();
  for (size_t i = 0; i < n; ++i) {
    const int64_t seed = seeds[i];
    const Pair link{targets().source[seed], targets().target[seed]};
    const int64_t relation = known_.relation(seed);
    ends.add(link.source, link.target, seed);
    *is_link++ = false;
    Random random(key.seed, kNegativeStream, key.epoch, key.batch, number(i), 1);
    const auto sample = [&](size_t j) -> Pair {
      const bool replaces_target = j % 2 == 0;
      if (from_file) return negative_from_file(link, replaces_target, random);
      const int32_t w = pools
                            ? pool[(i + j) % pool.size()]
                            : negative(replaces_target ? link.source : link.target, graph, random);
      return replaces_target ? Pair{link.source, w} : Pair{w, link.target};
    };
    for (size_t j = 0; j < negatives; ++j) {
      const Pair pair = sample(j);
      ends.add(pair.source, pair.target, seed);
      *is_link++ = is_excluded(pair, relation, graph);
    }
  }
  Query query = query_of(ends, graph);
  query.excluded = excluded;
  return query;
}

Ranking ranking_for(Ranking wanted, const Decoder& decoder, int64_t nodes, int64_t links) {
  const bool all = wanted == Ranking::kFiltered || wanted == Ranking::kRaw;
  require_option(!all || decoder.is_product(), OptionName{"ranking"}, " ", name_of(wanted),
                 ": ranks links among all nodes, which takes too long with ", OptionName{"decoder"},
                 " mlp; use sampled");
  if (wanted != Ranking::kAuto) return wanted;
  constexpr int64_t kMostPairs = 1'000'000'000;
  const bool few = links <= kMostPairs / std::max<int64_t>(1, nodes);
  return decoder.is_product() && few ? Ranking::kFiltered : Ranking::kSampled;
}

// Two random nodes that are not known to be linked, unless almost all are.
void PredictedLinks::add_random_pair(int64_t seed, Ends& ends) const {
  Random random(seed_, kRandomPairStream, seed);
  const auto nodes = static_cast<uint64_t>(graph_.node_count());
  const int64_t relation = known_.relation(seed);
  constexpr int kAttempts = 100;
  auto u = static_cast<int32_t>(random.below(nodes));
  auto v = static_cast<int32_t>(random.below(nodes));
  for (int i = 0; i < kAttempts && (u == v || known_.linked(u, v, relation)); ++i) {
    u = static_cast<int32_t>(random.below(nodes));
    v = static_cast<int32_t>(random.below(nodes));
  }
  ends.add(u, v, seed);
}

// Nodes in place of the target, then in place of the source, that are not known to be linked.
void PredictedLinks::add_candidates(int64_t seed, Ends& ends) const {
  const int32_t u = targets().source[seed];
  const int32_t v = targets().target[seed];
  const int64_t relation = known_.relation(seed);
  Random random(seed_, kCandidateStream, seed);
  const auto nodes = static_cast<uint64_t>(graph_.node_count());
  for (const bool replaces_target : {true, false}) {
    for (int64_t j = 0; j < kCandidates; ++j) {
      constexpr int kAttempts = 100;
      auto w = static_cast<int32_t>(random.below(nodes));
      const auto is_link = [&] {
        return replaces_target ? w == u || known_.linked(u, w, relation)
                               : w == v || known_.linked(w, v, relation);
      };
      for (int i = 0; i < kAttempts && is_link(); ++i)
        w = static_cast<int32_t>(random.below(nodes));
      ends.add(replaces_target ? u : w, replaces_target ? w : v, seed);
    }
  }
}

// Pairs of each seed: the link, a random pair, and unless links are ranked among all nodes, its
// candidates.
Query PredictedLinks::query(std::span<const int64_t> seeds, const VisibleGraph& graph) const {
  Ends ends;
  ends.reserve(seeds.size() * static_cast<size_t>(pairs_per_seed()));
  for (const int64_t seed : seeds) {
    ends.add(targets().source[seed], targets().target[seed], seed);
    add_random_pair(seed, ends);
    if (!ranks_all()) add_candidates(seed, ends);
  }
  Query query = query_of(ends, graph);
  if (!ranks_all()) return query;
  // Every node is a candidate: its row is its number.
  const Tensor number = index_of(query.nodes);
  query.pairs->source = number.index_select(0, query.pairs->source);
  query.pairs->target = number.index_select(0, query.pairs->target);
  query.nodes.resize(static_cast<size_t>(graph_.node_count()));
  std::iota(query.nodes.begin(), query.nodes.end(), int64_t{0});
  return query;
}

namespace {

// The ends of a link: the node to rank, and the other one.
struct RankedEnd {
  int64_t truth;
  int64_t other;
};

// 1 + the number of scores above that of the truth + half of the equal ones, without the other end
// itself and without `known` nodes, ascending and maybe repeated.
float rank_of(const float* score, int64_t nodes, const RankedEnd& end,
              std::span<const int32_t> known) {
  const auto [truth, other] = end;
  const float own = score[truth];
  int64_t better = 0;
  int64_t equal = -1;  // the truth itself
  for (int64_t w = 0; w < nodes; ++w) {
    better += score[w] > own ? 1 : 0;
    equal += score[w] == own ? 1 : 0;
  }
  const auto leave_out = [&](int64_t w) {
    better -= score[w] > own ? 1 : 0;
    equal -= score[w] == own ? 1 : 0;
  };
  if (other != truth) leave_out(other);
  int32_t previous = -1;
  for (const int32_t w : known) {
    if (w == truth || w == other || w == previous) continue;
    previous = w;
    leave_out(w);
  }
  return 1.0F + static_cast<float>(better) + 0.5F * static_cast<float>(equal);
}

}  // namespace

// Ranks among all nodes: [n, 2].
Tensor PredictedLinks::ranks(const Model& model, const Inputs& inputs,
                             std::span<const int64_t> seeds, const Tensor& embedding) const {
  const ScoreFactors factors = model.decoder()->factors(embedding);
  const int64_t nodes = embedding.size(0);
  const auto n = std::ssize(seeds);
  Tensor ranks = at::empty({n, 2}, at::kFloat);
  auto* rank = ranks.data_ptr<float>();
  constexpr int64_t kScores = 1 << 22;
  const int64_t chunk = std::max<int64_t>(1, kScores / std::max<int64_t>(1, nodes));
  for (int64_t first = 0; first < n; first += chunk) {
    const auto some =
        seeds.subspan(static_cast<size_t>(first), static_cast<size_t>(std::min(chunk, n - first)));
    std::vector<int64_t> source;
    std::vector<int64_t> target;
    for (const int64_t seed : some) {
      source.push_back(targets().source[seed]);
      target.push_back(targets().target[seed]);
    }
    const auto index = [&](std::span<const int64_t> rows) {
      return ops::move(index_of(rows), embedding.device());
    };
    Tensor from_source = factors.source.index_select(0, index(source));
    Tensor from_target = factors.target.index_select(0, index(target));
    if (targets().attributes.columns > 0) {
      const Tensor r = model.decoder()->relation(inputs.targets(), index(some));
      if (r.defined()) {
        from_source = from_source * r;
        from_target = from_target * r;
      }
    }
    const Tensor of_targets = ops::linear({from_source, {}}, factors.target).cpu().contiguous();
    const Tensor of_sources = ops::linear({from_target, {}}, factors.source).cpu().contiguous();
    const auto* target_scores = of_targets.data_ptr<float>();
    const auto* source_scores = of_sources.data_ptr<float>();
    constexpr int64_t kLinks = 8;
    parallel_for(std::ssize(some), kLinks, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<size_t>(i);
        const int64_t relation = known_.relation(some[at]);
        const bool filters = options_.ranking == Ranking::kFiltered;
        const auto targets =
            filters ? known_.targets_of(source[at], relation) : std::span<const int32_t>();
        const auto sources =
            filters ? known_.sources_of(target[at], relation) : std::span<const int32_t>();
        float* to = rank + 2 * (first + i);
        to[kTargetRank] =
            rank_of(target_scores + i * nodes, nodes, {target[at], source[at]}, targets);
        to[kSourceRank] =
            rank_of(source_scores + i * nodes, nodes, {source[at], target[at]}, sources);
      }
    });
  }
  return ranks;
}

Tensor PredictedLinks::evaluate(const Model& model, const Inputs& inputs,
                                std::span<const int64_t> seeds, const Query& query,
                                const Tensor& embedding) const {
  const Tensor score =
      model.outputs(inputs, embedding, query.links(), {}).reshape({std::ssize(seeds), -1});
  if (!ranks_all()) return sampled_ranks(score);
  return at::cat({ranks(model, inputs, seeds, embedding), score.narrow(1, 0, 2).cpu()}, 1);
}

Tensor PredictedLinks::sampled_ranks(const Tensor& score) {
  const Tensor own = score.narrow(1, 0, 1);
  const auto rank = [&](int64_t first) {
    const Tensor candidates = score.narrow(1, first, kCandidates);
    return 1 + candidates.gt(own).sum(1, true).to(at::kFloat) +
           0.5 * candidates.eq(own).sum(1, true).to(at::kFloat);
  };
  return at::cat({rank(2), rank(2 + kCandidates), score.narrow(1, 0, 2)}, 1);
}

}  // namespace lase
