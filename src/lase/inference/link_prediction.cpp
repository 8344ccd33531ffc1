#include "lase/inference/link_prediction.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/ops/linear.h"

namespace lase {

using at::Tensor;

namespace {

constexpr uint64_t kNegativeStream = 0x4E454741;
constexpr uint64_t kRandomPairStream = 0x50414952;
constexpr uint64_t kCandidateStream = 0x43414E44;

}  // namespace

// ---- Known links

KnownLinks::Index KnownLinks::make_index(std::vector<std::pair<int64_t, int32_t>> entries) {
  std::sort(entries.begin(), entries.end());
  Index index;
  for (const auto& [key, other] : entries) {
    if (index.key.empty() || index.key.back() != key) {
      index.key.push_back(key);
      index.start.push_back(std::ssize(index.other));
    }
    index.other.push_back(other);
  }
  index.start.push_back(std::ssize(index.other));
  return index;
}

std::span<const int32_t> KnownLinks::Index::of(int64_t wanted) const {
  const auto found = std::lower_bound(key.begin(), key.end(), wanted);
  if (found == key.end() || *found != wanted) return {};
  const auto i = static_cast<size_t>(found - key.begin());
  return std::span(other).subspan(static_cast<size_t>(start[i]),
                                  static_cast<size_t>(start[i + 1] - start[i]));
}

KnownLinks::KnownLinks(const Graph& graph, bool symmetric, Splits splits)
    : targets_(graph.targets),
      relations_(targets_.relations ? std::max<int64_t>(1, targets_.attributes.columns) : 1) {
  std::vector<std::pair<int64_t, int32_t>> from;
  std::vector<std::pair<int64_t, int32_t>> to;
  const auto add = [&](int32_t u, int32_t v, int64_t relation) {
    from.emplace_back(u * relations_ + relation, v);
    to.emplace_back(v * relations_ + relation, u);
  };
  const auto counts = [&](const Array<uint8_t>& split, int64_t i) {
    return splits == Splits::kAll || split.empty() ||
           split[i] == static_cast<uint8_t>(Split::kTrain);
  };
  for (int64_t i = 0; i < targets_.size(); ++i) {
    if (!counts(targets_.split, i)) continue;
    const int64_t r = relation(i);
    add(targets_.source[i], targets_.target[i], r);
    if (symmetric) add(targets_.target[i], targets_.source[i], r);
  }
  // Without relations, all links of the graph are known, also those that are not targets.
  for (int64_t u = 0; relations_ == 1 && u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      if (!counts(graph.link_split, graph.link_of_row(graph.link[i]))) continue;
      add(static_cast<int32_t>(u), graph.neighbor[i], 0);
    }
  }
  by_source_ = make_index(std::move(from));
  by_target_ = make_index(std::move(to));
}

int64_t KnownLinks::relation(int64_t target) const {
  if (relations_ == 1) return 0;
  int64_t relation = 0;
  targets_.attributes.for_each(target, [&](int64_t column, float value) {
    if (value != 0) relation = column;
  });
  return relation;
}

std::span<const int32_t> KnownLinks::targets_of(int64_t u, int64_t relation) const {
  return by_source_.of(u * relations_ + relation);
}

std::span<const int32_t> KnownLinks::sources_of(int64_t v, int64_t relation) const {
  return by_target_.of(v * relations_ + relation);
}

bool KnownLinks::linked(int64_t u, int64_t v, int64_t relation) const {
  const auto others = targets_of(u, relation);
  return std::binary_search(others.begin(), others.end(), static_cast<int32_t>(v));
}

// ---- Links to be predicted

PredictedLinks::PredictedLinks(const Graph& graph, bool symmetric, bool statistics,
                               const LinkPredictionOptions& options, uint64_t seed)
    : LinkSeeds(graph.targets, symmetric, statistics),
      graph_(graph),
      options_(options),
      seed_(seed),
      known_(graph, symmetric, KnownLinks::Splits::kAll),
      training_(graph, symmetric, KnownLinks::Splits::kTrain) {}

// A node in place of the other end of a link of u.
int64_t PredictedLinks::negative(int64_t u, const VisibleGraph& graph, Random& random) const {
  const Adjacency& arcs = graph.arcs;
  const auto neighbor = [&](int64_t w) {
    return arcs.neighbor[arcs.row_ptr[w] +
                         static_cast<int64_t>(random.below(static_cast<uint64_t>(arcs.degree(w))))];
  };
  if (options_.sampling == NegativeSampling::kDegree && arcs.arc_count() > 0) {
    return arcs
        .neighbor[static_cast<int64_t>(random.below(static_cast<uint64_t>(arcs.arc_count())))];
  }
  if (options_.sampling == NegativeSampling::kTwoHop && arcs.degree(u) > 0) {
    const int64_t w = neighbor(u);
    if (arcs.degree(w) > 0) return neighbor(w);
  }
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(graph_.node_count())));
}

// Each link is followed by its negative samples, in which the target and the source are replaced
// alternately. Unless samples depend on the other end, the links of a batch share them: as many
// nodes are sampled as there are links, so that few more embeddings have to be computed.
Query PredictedLinks::training_query(std::span<const int64_t> seeds, const VisibleGraph& graph,
                                     const SampleKey& key) const {
  const size_t n = seeds.size();
  const bool shared = options_.sampling != NegativeSampling::kTwoHop;
  const auto negatives = static_cast<size_t>(options_.negatives);
  std::vector<int32_t> pool;
  for (size_t i = 0; shared && i < std::max(n, negatives); ++i) {
    Random random(key.seed, kNegativeStream, key.epoch, key.batch, i);
    pool.push_back(static_cast<int32_t>(negative(0, graph, random)));
  }
  Ends ends;
  ends.reserve(n * (1 + negatives));
  std::vector<uint8_t> excluded;
  excluded.reserve(n * (1 + negatives));
  for (size_t i = 0; i < n; ++i) {
    const int64_t seed = seeds[i];
    const int32_t u = targets().source[seed];
    const int32_t v = targets().target[seed];
    const int64_t relation = known_.relation(seed);
    ends.add(u, v, seed);
    excluded.push_back(0);
    Random random(key.seed, kNegativeStream, key.epoch, key.batch, i, 1);
    for (size_t j = 0; j < negatives; ++j) {
      const bool replaces_target = j % 2 == 0;
      const int32_t w =
          shared ? pool[(i + j) % pool.size()]
                 : static_cast<int32_t>(negative(replaces_target ? u : v, graph, random));
      const int32_t from = replaces_target ? u : w;
      const int32_t to = replaces_target ? w : v;
      ends.add(from, to, seed);
      excluded.push_back(from == to || training_.linked(from, to, relation) ? 1 : 0);
    }
  }
  Query query = query_of(ends, graph);
  query.excluded =
      at::from_blob(excluded.data(), {std::ssize(excluded)}, at::kByte).to(at::kBool, false, true);
  return query;
}

Ranking ranking_for(Ranking wanted, const Decoder& decoder, int64_t nodes, int64_t links) {
  require_option(wanted != Ranking::kFiltered || decoder.is_product(), OptionName{"ranking"},
                 " filtered: ranks links among all nodes, which takes too long with ",
                 OptionName{"decoder"}, " mlp; use sampled");
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
  const bool filtered = filters();
  Ends ends;
  ends.reserve(seeds.size() * (2 + (filtered ? 0 : 2 * kCandidates)));
  for (const int64_t seed : seeds) {
    ends.add(targets().source[seed], targets().target[seed], seed);
    add_random_pair(seed, ends);
    if (!filtered) add_candidates(seed, ends);
  }
  if (!filtered) return query_of(ends, graph);
  Query query = query_of(ends, graph);
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
    Tensor from_source = factors.source.index_select(0, index_of(source));
    Tensor from_target = factors.target.index_select(0, index_of(target));
    if (targets().attributes.columns > 0) {
      const Tensor r = model.decoder()->relation(inputs.targets(), index_of(some));
      if (r.defined()) {
        from_source = from_source * r;
        from_target = from_target * r;
      }
    }
    const Tensor of_targets = ops::linear({from_source, {}}, factors.target).contiguous();
    const Tensor of_sources = ops::linear({from_target, {}}, factors.source).contiguous();
    const auto* target_scores = of_targets.data_ptr<float>();
    const auto* source_scores = of_sources.data_ptr<float>();
    constexpr int64_t kLinks = 8;
    parallel_for(std::ssize(some), kLinks, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<size_t>(i);
        const int64_t relation = known_.relation(some[at]);
        float* to = rank + 2 * (first + i);
        to[0] = rank_of(target_scores + i * nodes, nodes, {target[at], source[at]},
                        known_.targets_of(source[at], relation));
        to[1] = rank_of(source_scores + i * nodes, nodes, {source[at], target[at]},
                        known_.sources_of(target[at], relation));
      }
    });
  }
  return ranks;
}

Tensor PredictedLinks::evaluate(const Model& model, const Inputs& inputs,
                                std::span<const int64_t> seeds, const Query& query,
                                const Tensor& embedding) const {
  const auto n = std::ssize(seeds);
  const int64_t pairs = query.pairs->source.size(0);
  std::vector<Tensor> scores;
  constexpr int64_t kPairs = 1 << 16;
  for (int64_t first = 0; first < pairs; first += kPairs) {
    const int64_t last = std::min(first + kPairs, pairs);
    const auto part = [&](const Tensor& all) {
      return all.defined() ? all.slice(0, first, last) : all;
    };
    const Pairs some{.source = part(query.pairs->source),
                     .target = part(query.pairs->target),
                     .link = part(query.pairs->link),
                     .statistics = part(query.pairs->statistics)};
    scores.push_back(model.outputs(inputs, embedding, &some, {}));
  }
  const Tensor score = at::cat(scores).reshape({n, -1});
  if (!filters()) return sampled_ranks(score);
  return at::cat({ranks(model, inputs, seeds, embedding), score.narrow(1, 0, 2)}, 1);
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
