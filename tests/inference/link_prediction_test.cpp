#include "lase/inference/link_prediction.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "lase/inference/link_task.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using Role = RandomLinks::Role;
using Kind = std::pair<bool, bool>;  // directed, relations

constexpr int64_t kNodes = 40;
constexpr Kind kKinds[] = {{false, false}, {true, false}, {false, true}, {true, true}};

// A graph with a split of its links, prepared for link prediction.
Graph predicted_graph(const Kind& kind) {
  RandomLinks options{.nodes = kNodes, .links = 120, .categories = 3};
  options.directed = kind.first;
  options.repeated = true;
  options.role = kind.second ? Role::kRelations : Role::kAttributes;
  Graph graph = random_links(options);
  prepare_links(graph, Predicts::kLinkPrediction, {.split = "50/25/25", .prediction = {}}, 1);
  graph.nodes.features = constant_feature(kNodes);
  return graph;
}

int64_t relation_of(const Graph& graph, int64_t target) {
  const Floats values = row(graph.targets.attributes, target);
  const auto found = std::find(values.begin(), values.end(), 1.0F);
  return graph.targets.relations ? found - values.begin() : 0;  // 3: none
}

PairRules rules_of(const Graph& graph, bool statistics) {
  return {.symmetric = is_symmetric(graph, Predicts::kLinkPrediction), .statistics = statistics};
}

// (u, v, relation) of all links, or of those of the training split.
using Known = std::set<std::tuple<int64_t, int64_t, int64_t>>;
Known known_links(const Graph& graph, bool training) {
  Known known;
  const bool symmetric = is_symmetric(graph, Predicts::kLinkPrediction);
  const auto counts = [&](uint8_t split) {
    return !training || split == static_cast<uint8_t>(Split::kTrain);
  };
  for (int64_t i = 0; i < graph.targets.size(); ++i) {
    if (!counts(graph.targets.split[i])) continue;
    const int64_t u = graph.targets.source[i];
    const int64_t v = graph.targets.target[i];
    known.emplace(u, v, relation_of(graph, i));
    if (symmetric) known.emplace(v, u, relation_of(graph, i));
  }
  for (int64_t u = 0; u < kNodes && !graph.targets.relations; ++u) {
    for (int64_t arc = graph.row_ptr[u]; arc < graph.row_ptr[u + 1]; ++arc) {
      if (counts(graph.link_split[graph.link[arc]])) known.emplace(u, graph.neighbor[arc], 0);
    }
  }
  return known;
}

TEST(KnownLinks, AreTheLinksOfAllSplitsOrOfTraining) {
  for (const Kind& kind : kKinds) {
    const Graph graph = predicted_graph(kind);
    const bool symmetric = is_symmetric(graph, Predicts::kLinkPrediction);
    EXPECT_EQ(symmetric, !kind.first && !kind.second);
    for (const bool training : {false, true}) {
      const KnownLinks known(graph, symmetric,
                             training ? KnownLinks::Splits::kTrain : KnownLinks::Splits::kAll);
      const Known expected = known_links(graph, training);
      for (int64_t i = 0; i < graph.targets.size(); ++i) {
        EXPECT_EQ(known.relation(i), relation_of(graph, i));
      }
      for (int64_t r = 0; r < (kind.second ? 4 : 1); ++r) {
        for (int64_t u = 0; u < kNodes; ++u) {
          const auto targets = known.targets_of(u, r);
          const auto sources = known.sources_of(u, r);
          EXPECT_TRUE(std::is_sorted(targets.begin(), targets.end()));
          EXPECT_TRUE(std::is_sorted(sources.begin(), sources.end()));
          for (int64_t v = 0; v < kNodes; ++v) {
            EXPECT_EQ(known.linked(u, v, r), expected.contains({u, v, r}));
            EXPECT_EQ(std::ranges::count(targets, v) > 0, expected.contains({u, v, r}));
            EXPECT_EQ(std::ranges::count(sources, v) > 0, expected.contains({v, u, r}));
          }
        }
      }
    }
  }
}

TEST(KnownLinks, WithoutARelationHaveNoneOfTheOthers) {
  Graph graph = predicted_graph(kKinds[3]);
  std::vector<float> values;
  for (int64_t i = 0; i < graph.targets.size(); ++i) {
    Floats own = row(graph.targets.attributes, i);
    if (i == 1) own.assign(own.size(), 0);
    values.insert(values.end(), own.begin(), own.end());
  }
  graph.targets.attributes = Attributes::dense(values, graph.targets.size(), 3);
  const KnownLinks known(graph, false, KnownLinks::Splits::kAll);
  constexpr int64_t kNone = 3;
  EXPECT_EQ(known.relation(1), kNone);
  const int64_t u = graph.targets.source[1];
  const int64_t v = graph.targets.target[1];
  EXPECT_TRUE(known.linked(u, v, kNone));
  const Known expected = known_links(graph, false);
  for (int64_t r = 0; r < kNone; ++r) {
    EXPECT_EQ(known.linked(u, v, r), expected.contains({u, v, r}));
  }
}

// In an undirected graph, links do not tell in which direction they were imported.
TEST(KnownLinks, JoinBothNodesIfTheirDirectionIsNotKnown) {
  RandomLinks options{.nodes = kNodes, .links = 60, .categories = 2};
  options.targets = false;
  Graph graph = random_links(options);
  graph.separate_directions = true;  // as far as links to predict are concerned
  prepare_targets(graph, Predicts::kLinkPrediction);
  EXPECT_TRUE(is_symmetric(graph, Predicts::kLinkPrediction));
}

// ---- Ranks

// A model with small whole numbers as weights, and such embeddings, so that scores are exact and
// often equal.
struct Scoring {
  Scoring(const Graph& graph, DecoderChoice decoder)
      : model(options_for(decoder), shape_of(graph), 1), inputs(graph, scaling_of(graph)) {
    Random random(8);
    const auto whole = [&](const Tensor& x) {
      return random_floats(random, x.sizes().vec()).round().clamp(-2, 2);
    };
    NamedTensors weights = model.parameters().copy();
    for (auto& [name, value] : weights) {
      if (name != "decoder.scale") value = whole(value);
    }
    model.parameters().set(weights);
    const auto found = weights.find("decoder.source");
    embedding = whole(at::empty({kNodes, found == weights.end() ? 4 : found->second.size(1)}));
  }

  static ModelOptions options_for(DecoderChoice decoder) {
    ModelOptions options;
    options.widths = {4};
    options.decoder = decoder;
    options.decoder_width = 6;
    return options;
  }
  static Scaling scaling_of(const Graph& graph) {
    Scaling scaling = no_scaling(graph);
    scaling.target_mean = at::zeros({graph.targets.attributes.columns});
    scaling.target_scale = at::ones({graph.targets.attributes.columns});
    return scaling;
  }
  static ModelShape shape_of(const Graph& graph) {
    return {.node_features = 1,
            .link_attributes = graph.link_attributes.columns,
            .outputs = 1,
            .links = true,
            .target_attributes = graph.targets.attributes.columns,
            .symmetric = is_symmetric(graph, Predicts::kLinkPrediction)};
  }

  // The score of (u, v) with the attributes of a target link.
  float score(const Graph& graph, int64_t u, int64_t v, int64_t link) const {
    Pairs pair;
    pair.source = index_tensor({u});
    pair.target = index_tensor({v});
    if (graph.targets.attributes.columns > 0) pair.link = index_tensor({link});
    if (model.decoder()->reads_statistics()) {
      pair.statistics = pair_statistics({graph}, std::vector<int32_t>{static_cast<int32_t>(u)},
                                        std::vector<int32_t>{static_cast<int32_t>(v)},
                                        is_symmetric(graph, Predicts::kLinkPrediction));
    }
    return model.outputs(inputs, embedding, &pair, {}).item<float>();
  }

  const c10::NoGradGuard no_grad = {};
  Model model;
  Inputs inputs;
  Tensor embedding;
};

struct RankedCase {
  Kind kind;
  DecoderChoice decoder;
  Ranking ranking;
};
std::vector<RankedCase> ranked_cases() {
  std::vector<RankedCase> cases;
  for (const Kind& kind : kKinds) {
    for (const auto decoder : {DecoderChoice::kDot, DecoderChoice::kBilinear}) {
      for (const auto ranking : {Ranking::kFiltered, Ranking::kRaw}) {
        cases.push_back({kind, decoder, ranking});
      }
    }
  }
  return cases;
}

TEST(PredictedLinks, AreRankedAmongAllNodesOrAmongThoseThatAreNotLinked) {
  for (const RankedCase& ranked : ranked_cases()) {
    const Graph graph = predicted_graph(ranked.kind);
    const Scoring scoring(graph, ranked.decoder);
    const PredictedLinks links(graph, rules_of(graph, false), {.ranking = ranked.ranking}, 1);
    const std::vector<int64_t> seeds = targets_in(graph, Split::kTest);
    ASSERT_GT(seeds.size(), 20);
    const Query query = links.query(seeds, {graph});
    ASSERT_EQ(query.nodes, all_nodes(graph));
    const Tensor found =
        links.evaluate(scoring.model, scoring.inputs, seeds, query, scoring.embedding);
    ASSERT_EQ(found.sizes(), (std::vector<int64_t>{std::ssize(seeds), 4}));
    const Known known = known_links(graph, false);
    int64_t ties = 0;
    for (size_t i = 0; i < seeds.size(); ++i) {
      const int64_t u = graph.targets.source[seeds[i]];
      const int64_t v = graph.targets.target[seeds[i]];
      const int64_t r = relation_of(graph, seeds[i]);
      const float own = scoring.score(graph, u, v, seeds[i]);
      double of_target = 1;
      double of_source = 1;
      const auto add = [&](int64_t from, int64_t to, double& rank) {
        const bool filtered = ranked.ranking == Ranking::kFiltered && known.contains({from, to, r});
        if (from == to || filtered || std::pair(from, to) == std::pair(u, v)) return;
        const float other = scoring.score(graph, from, to, seeds[i]);
        rank += other > own ? 1 : other == own ? 0.5 : 0;
        ties += other == own ? 1 : 0;
      };
      for (int64_t w = 0; w < kNodes; ++w) {
        add(u, w, of_target);
        add(w, v, of_source);
      }
      const Doubles values = to_doubles(found[static_cast<int64_t>(i)]);
      EXPECT_EQ(values[0], of_target);
      EXPECT_EQ(values[1], of_source);
      EXPECT_EQ(values[2], own);
    }
    EXPECT_GT(ties, 10);
  }
}

// The nodes of pair i of a query.
std::pair<int64_t, int64_t> pair_at(const Query& query, int64_t i) {
  const auto node = [&](const Tensor& row) {
    return query.nodes[static_cast<size_t>(row[i].item<int64_t>())];
  };
  return {node(query.pairs->source), node(query.pairs->target)};
}

TEST(PredictedLinks, AreRankedAmongSampledNodesThatAreNotLinked) {
  for (const Kind& kind : {kKinds[0], kKinds[1]}) {
    const Graph graph = predicted_graph(kind);
    const Scoring scoring(graph, DecoderChoice::kMlp);
    const PredictedLinks links(graph, rules_of(graph, true), {.ranking = Ranking::kSampled}, 1);
    std::vector<int64_t> seeds = targets_in(graph, Split::kVal);
    seeds.resize(6);
    const Query query = links.query(seeds, {graph});
    constexpr int64_t kCandidates = PredictedLinks::kCandidates;
    constexpr int64_t kPairs = 2 + 2 * kCandidates;
    ASSERT_EQ(query.pairs->source.size(0), kPairs * std::ssize(seeds));
    EXPECT_EQ(std::set(query.nodes.begin(), query.nodes.end()).size(), query.nodes.size());
    const Tensor found =
        links.evaluate(scoring.model, scoring.inputs, seeds, query,
                       scoring.embedding.index_select(0, index_tensor(query.nodes)));
    const Known known = known_links(graph, false);
    for (size_t i = 0; i < seeds.size(); ++i) {
      const int64_t first = static_cast<int64_t>(i) * kPairs;
      const int64_t u = graph.targets.source[seeds[i]];
      const int64_t v = graph.targets.target[seeds[i]];
      EXPECT_EQ(pair_at(query, first), std::pair(u, v));
      const float own = scoring.score(graph, u, v, seeds[i]);
      double ranks[] = {1, 1};
      float random_score = 0;
      for (int64_t j = 1; j < kPairs; ++j) {
        const auto [from, to] = pair_at(query, first + j);
        EXPECT_NE(from, to);
        EXPECT_FALSE(known.contains({from, to, 0}));
        const float other = scoring.score(graph, from, to, seeds[i]);
        if (j == 1) random_score = other;
        if (j == 1) continue;
        const bool replaces_target = j < 2 + kCandidates;
        EXPECT_EQ(replaces_target ? from : to, replaces_target ? u : v);
        ranks[replaces_target ? 0 : 1] += other > own ? 1 : other == own ? 0.5 : 0;
      }
      const Doubles values = to_doubles(found[static_cast<int64_t>(i)]);
      EXPECT_EQ(values, (Doubles{ranks[0], ranks[1], own, random_score}));
    }
    // The candidates of a link do not depend on the other links.
    const Query alone = links.query(std::span(seeds).subspan(2, 1), {graph});
    for (int64_t j = 0; j < kPairs; ++j) {
      EXPECT_EQ(pair_at(alone, j), pair_at(query, 2 * kPairs + j));
    }
  }
}

// The pairs of many links are made chunk by chunk, and not kept.
TEST(PredictedLinks, AreRankedInChunks) {
  const Graph graph = predicted_graph(kKinds[0]);
  const Scoring scoring(graph, DecoderChoice::kDot);
  const PredictedLinks links(graph, rules_of(graph, false), {.ranking = Ranking::kSampled}, 1);
  const std::vector<int64_t> some = targets_in(graph, Split::kTest);
  const auto outputs = [&](std::span<const int64_t> seeds) {
    const Evaluation evaluation(links, seeds, {graph});
    const Tensor embedding = scoring.embedding.index_select(0, index_tensor(evaluation.nodes()));
    return evaluation.outputs(scoring.model, scoring.inputs, embedding);
  };
  const Tensor expected = outputs(some);
  constexpr int64_t kPairs = (int64_t{1} << 22) + 1;
  std::vector<int64_t> many;
  while (std::ssize(many) * links.pairs_per_seed() < kPairs) {
    many.insert(many.end(), some.begin(), some.end());
  }
  EXPECT_EQ(Evaluation(links, many, {graph}).nodes(), all_nodes(graph));
  const int64_t copies = std::ssize(many) / std::ssize(some);
  EXPECT_TRUE(at::equal(outputs(many), expected.repeat({copies, 1})));
}

TEST(PredictedLinks, AreRankedAmongAllNodesUnlessThatTakesLong) {
  const Graph graph = predicted_graph(kKinds[0]);
  const auto ranking = [&](Ranking wanted, DecoderChoice choice, int64_t links) {
    const Scoring scoring(graph, choice);
    return ranking_for(wanted, *scoring.model.decoder(), 1'000'000, links);
  };
  EXPECT_EQ(ranking(Ranking::kAuto, DecoderChoice::kDot, 1000), Ranking::kFiltered);
  EXPECT_EQ(ranking(Ranking::kAuto, DecoderChoice::kDot, 1001), Ranking::kSampled);
  EXPECT_EQ(ranking(Ranking::kAuto, DecoderChoice::kMlp, 10), Ranking::kSampled);
  EXPECT_EQ(ranking(Ranking::kFiltered, DecoderChoice::kBilinear, 10'000), Ranking::kFiltered);
  EXPECT_EQ(ranking(Ranking::kSampled, DecoderChoice::kDot, 10), Ranking::kSampled);
  expect_error([&] { ranking(Ranking::kFiltered, DecoderChoice::kMlp, 10); },
               {"ranking filtered", "decoder mlp", "use sampled"});
}

// ---- Negative samples

constexpr NegativeSampling kNegativeSamplings[] = {
    NegativeSampling::kUniform, NegativeSampling::kDegree, NegativeSampling::kTwoHop};

TEST(NegativeSamples, ReplaceOneEndOfALinkAndAreNotTrainingLinks) {
  for (const Kind& kind : kKinds) {
    const Graph graph = predicted_graph(kind);
    const Adjacency visible = visible_links(graph, Split::kTrain);
    const Known training = known_links(graph, true);
    const std::vector<int64_t> seeds = targets_in(graph, Split::kTrain);
    for (const auto sampling : kNegativeSamplings) {
      constexpr int64_t kNegatives = 7;
      const PredictedLinks links(graph, rules_of(graph, false),
                                 {.negatives = kNegatives, .sampling = sampling}, 1);
      const Query query = links.training_query(seeds, {visible}, {3, 1, 2});
      const int64_t pairs = (1 + kNegatives) * std::ssize(seeds);
      ASSERT_EQ(query.pairs->source.size(0), pairs);
      ASSERT_EQ(query.excluded.sizes(), (std::vector<int64_t>{std::ssize(seeds), 1 + kNegatives}));
      const Tensor excluded_pairs = query.excluded.flatten();
      const auto linked = [&](int64_t a, int64_t b) {
        const auto first = visible.neighbor.begin();
        return std::binary_search(first + visible.row_ptr[a], first + visible.row_ptr[a + 1], b);
      };
      int64_t excluded = 0;
      for (int64_t i = 0; i < pairs; ++i) {
        const int64_t seed = seeds[static_cast<size_t>(i / (1 + kNegatives))];
        const int64_t u = graph.targets.source[seed];
        const int64_t v = graph.targets.target[seed];
        const auto [from, to] = pair_at(query, i);
        if (graph.targets.attributes.columns > 0) {
          EXPECT_EQ(query.pairs->link[i].item<int64_t>(), seed);
        }
        const int64_t j = i % (1 + kNegatives);
        const bool is_excluded = excluded_pairs[i].item<bool>();
        if (j == 0) {
          EXPECT_EQ(std::pair(from, to), std::pair(u, v));
          EXPECT_FALSE(is_excluded);
          continue;
        }
        EXPECT_EQ(j % 2 == 1 ? from : to, j % 2 == 1 ? u : v);
        EXPECT_EQ(is_excluded,
                  from == to || training.contains({from, to, relation_of(graph, seed)}));
        excluded += is_excluded ? 1 : 0;
        const int64_t w = j % 2 == 1 ? to : from;
        const int64_t other = j % 2 == 1 ? from : to;
        EXPECT_TRUE(w >= 0 && w < kNodes);
        bool reached = false;
        for (int64_t x = 0; x < kNodes; ++x) reached |= linked(other, x) && linked(x, w);
        if (sampling == NegativeSampling::kTwoHop && !graph.directed) {
          EXPECT_TRUE(reached);
        }
        if (sampling == NegativeSampling::kDegree && !graph.directed) {
          EXPECT_GT(visible.degree(w), 0);
        }
      }
      EXPECT_GT(excluded, 0);
      EXPECT_LT(excluded, pairs / 2);
    }
  }
}

// If scores are products, the links of a batch share their negative samples.
TEST(NegativeSamples, AreSharedIfScoresAreProducts) {
  for (const Kind& kind : kKinds) {
    const Graph graph = predicted_graph(kind);
    const Scoring scoring(graph, DecoderChoice::kBilinear);
    const Adjacency visible = visible_links(graph, Split::kTrain);
    const Known training = known_links(graph, true);
    const std::vector<int64_t> seeds = targets_in(graph, Split::kTrain);
    PairRules rules = rules_of(graph, false);
    rules.product = true;
    const PredictedLinks links(graph, rules, {.negatives = 9}, 1);
    const Query query = links.training_query(seeds, {visible}, {3, 1, 2});
    const auto n = std::ssize(seeds);
    constexpr int64_t kNodesPerEnd = 5;  // half of the negative samples, rounded up
    ASSERT_EQ(query.pairs->source.size(0), n);
    ASSERT_EQ(query.pairs->candidates.size(0), kNodesPerEnd);
    ASSERT_EQ(query.excluded.sizes(), (std::vector<int64_t>{n, 1 + 2 * kNodesPerEnd}));
    const Tensor h = scoring.embedding.index_select(0, index_tensor(query.nodes));
    const Tensor scores = scoring.model.outputs(scoring.inputs, h, query.links(), {});
    ASSERT_EQ(scores.sizes(), query.excluded.sizes());
    int64_t excluded = 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t seed = seeds[static_cast<size_t>(i)];
      for (int64_t j = 0; j < 1 + 2 * kNodesPerEnd; ++j) {
        auto [from, to] = pair_at(query, i);
        EXPECT_EQ(from, graph.targets.source[seed]);
        EXPECT_EQ(to, graph.targets.target[seed]);
        if (j > 0) {
          const auto row = query.pairs->candidates[(j - 1) % kNodesPerEnd].item<int64_t>();
          (j <= kNodesPerEnd ? to : from) = query.nodes[static_cast<size_t>(row)];
        }
        EXPECT_EQ(scores[i][j].item<float>(), scoring.score(graph, from, to, seed));
        const bool is_excluded = query.excluded[i][j].item<bool>();
        EXPECT_EQ(is_excluded,
                  j > 0 && (from == to || training.contains({from, to, relation_of(graph, seed)})));
        excluded += is_excluded ? 1 : 0;
      }
    }
    EXPECT_GT(excluded, 0);
  }
}

TEST(NegativeSamples, ComeFromAFile) {
  for (const Kind& kind : {kKinds[0], kKinds[1]}) {
    const Graph graph = predicted_graph(kind);
    const std::vector<int64_t> seeds = targets_in(graph, Split::kTrain);
    // Pairs of half of the nodes; the others have none.
    NodePairs file;
    std::set<std::pair<int64_t, int64_t>> known;
    for (int32_t u = 0; u < kNodes / 2; ++u) {
      file.source.push_back(u);
      file.target.push_back(static_cast<int32_t>((7 * u + 3) % kNodes));
      known.emplace(u, file.target.back());
      if (!graph.directed) known.emplace(file.target.back(), u);
    }
    const PredictedLinks links(graph, rules_of(graph, false), {.negatives = 6}, 1, file);
    const Query query = links.training_query(seeds, {graph}, {});
    const auto has_pair = [&](int64_t u, bool is_source) {
      return std::any_of(known.begin(), known.end(), [&](const auto& pair) {
        return (is_source ? pair.first : pair.second) == u;
      });
    };
    for (int64_t i = 0; i < query.pairs->source.size(0); ++i) {
      const int64_t seed = seeds[static_cast<size_t>(i / 7)];
      const auto [from, to] = pair_at(query, i);
      if (i % 7 == 0) continue;
      EXPECT_TRUE(known.contains({from, to}));
      const bool replaces_target = i % 7 % 2 == 1;
      const int64_t kept =
          replaces_target ? graph.targets.source[seed] : graph.targets.target[seed];
      if (has_pair(kept, replaces_target)) {
        EXPECT_EQ(replaces_target ? from : to, kept);
      }
    }
  }
}

TEST(NegativeSamples, DependOnTheKey) {
  const Graph graph = predicted_graph(kKinds[0]);
  const std::vector<int64_t> seeds = targets_in(graph, Split::kTrain);
  for (const auto sampling : kNegativeSamplings) {
    const PredictedLinks links(graph, {.symmetric = true}, {.negatives = 5, .sampling = sampling},
                               1);
    const auto pairs = [&](const SampleKey& key) {
      const Query query = links.training_query(seeds, {graph}, key);
      std::vector<std::pair<int64_t, int64_t>> all;
      for (int64_t i = 0; i < query.pairs->source.size(0); ++i) all.push_back(pair_at(query, i));
      return all;
    };
    const auto first = pairs({1, 2, 3});
    EXPECT_EQ(pairs({1, 2, 3}), first);
    EXPECT_NE(pairs({2, 2, 3}), first);
    EXPECT_NE(pairs({1, 1, 3}), first);
    EXPECT_NE(pairs({1, 2, 4}), first);
  }
}

TEST(NegativeSamples, FollowTheDegreesIfRequested) {
  const Graph graph = predicted_graph(kKinds[0]);
  const std::vector<int64_t> seeds = {0};
  double links = 0;
  double squares = 0;
  for (int64_t u = 0; u < kNodes; ++u) {
    const auto degree = static_cast<double>(graph.degree(u));
    links += degree;
    squares += degree * degree;
  }
  const auto mean_degree = [&](NegativeSampling sampling) {
    const PredictedLinks predicted(graph, {.symmetric = true},
                                   {.negatives = 4000, .sampling = sampling}, 1);
    const Query query = predicted.training_query(seeds, {graph}, {});
    double sum = 0;
    for (int64_t i = 1; i < 4001; ++i) {
      const auto [from, to] = pair_at(query, i);
      sum += static_cast<double>(graph.degree(i % 2 == 1 ? to : from));
    }
    return sum / 4000;
  };
  EXPECT_NEAR(mean_degree(NegativeSampling::kUniform), links / kNodes, 0.2);
  EXPECT_NEAR(mean_degree(NegativeSampling::kDegree), squares / links, 0.2);
  EXPECT_GT(squares / links, links / kNodes + 0.5);
}

}  // namespace
}  // namespace lase
