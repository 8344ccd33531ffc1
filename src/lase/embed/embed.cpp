#include "lase/embed/embed.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/memory.h"
#include "lase/base/parallel.h"
#include "lase/embed/pairs.h"

namespace lase {
namespace {

constexpr uint64_t kStart = 3;

void check(const EmbedOptions& options, int64_t nodes) {
  embed_option_table().check(options);
  require(options.method == EmbedMethod::kLine || options.method == EmbedMethod::kDeepWalk,
          "an embedding needs a method: line or deepwalk");
  require_option(options.order != Order::kBoth || options.width >= 2,
                 "an embedding of both orders needs a width of at least 2");
  require(nodes > 0, "cannot embed a graph without nodes");
}

// [arcs]: the sum of the link's attributes; empty if links are unweighted.
std::vector<float> arc_weights(const Graph& graph, const Adjacency& arcs,
                               const EmbedOptions& options) {
  if (!options.weighted) return {};
  require(graph.link_attributes.columns > 0,
          "cannot weight links: this graph has no link attributes");
  std::vector<float> weight(static_cast<size_t>(arcs.neighbor.size()));
  parallel_for(arcs.neighbor.size(), 4096, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      double sum = 0;
      graph.link_attributes.for_each(arcs.link[i], [&](int64_t, float value) { sum += value; });
      require(sum >= 0, "cannot weight links: the attributes of link ",
              graph.link_of_row(arcs.link[i]), " sum to ", sum, ", expected at least 0");
      weight[static_cast<size_t>(i)] = static_cast<float>(sum);
    }
  });
  const bool positive = std::any_of(weight.begin(), weight.end(), [](float w) { return w > 0; });
  require(weight.empty() || positive,
          "cannot weight links: the attributes of every link sum to zero");
  return weight;
}

std::vector<float> noise_of(const Adjacency& arcs) {
  std::vector<float> noise(static_cast<size_t>(arcs.row_ptr.size() - 1));
  for (size_t u = 0; u < noise.size(); ++u) {
    noise[u] = std::pow(static_cast<float>(arcs.degree(static_cast<int64_t>(u))), 0.75F);
  }
  return noise;
}

// Initializes the rows of nodes that have arcs and are not fixed with small random values.
void start_rows(const Adjacency& arcs, const std::vector<uint8_t>& fixed, uint64_t seed,
                Embedding::Table& table) {
  const int64_t nodes = arcs.row_ptr.size() - 1;
  parallel_for(nodes, 1024, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      if (arcs.degree(u) == 0 || (!fixed.empty() && fixed[static_cast<size_t>(u)] != 0)) continue;
      Random random(seed, kStart, u);
      for (int64_t j = 0; j < table.width; ++j) {
        table.center[static_cast<size_t>(u * table.width + j)] =
            static_cast<float>((random.uniform() - 0.5) / static_cast<double>(table.width));
      }
    }
  });
}

void learn(const Graph& graph, const Adjacency& arcs, const EmbedOptions& options,
           const std::vector<uint8_t>& fixed, Embedding& embedding) {
  const auto weight = arc_weights(graph, arcs, options);
  if (arcs.neighbor.empty()) return;
  const auto noise = noise_of(arcs);
  const PairInput input{.arcs = arcs, .weight = weight, .fixed = fixed, .options = options};
  const auto pairs = options.method == EmbedMethod::kLine ? arc_pairs(input) : walk_pairs(input);
  const auto tables = static_cast<double>(embedding.tables.size());
  double finished = 0;  // tables
  for (auto& table : embedding.tables) {
    start_rows(arcs, fixed, options.seed, table);
    SkipGramOptions skip_gram{.noise = noise,
                              .negatives = options.negatives,
                              .rate = options.learning_rate,
                              .fixed = fixed,
                              .seed = options.seed,
                              .progress = {},
                              .stop = options.stop};
    if (options.progress) {
      skip_gram.progress = [&](double fraction, double samples) {
        options.progress((finished + fraction) / tables, embedding.samples + samples);
      };
    }
    embedding.samples += learn_skip_gram(
        *pairs, skip_gram,
        {.width = table.width,
         .center = table.center,
         .context = table.context.empty() ? std::span(table.center) : std::span(table.context)});
    ++finished;
  }
  embedding.stopped = options.stop != nullptr && options.stop->load();
  for (const auto& table : embedding.tables) {
    const bool finite = std::all_of(table.center.begin(), table.center.end(),
                                    [](float x) { return std::isfinite(x); });
    require(finite, "the embedding diverged at learning rate ", options.learning_rate,
            "; use a lower learning rate");
  }
}

}  // namespace

int64_t Embedding::width() const {
  int64_t all = 0;
  for (const auto& table : tables) all += table.width;
  return all;
}

std::vector<float> Embedding::rows() const {
  std::vector<float> rows(static_cast<size_t>(nodes * width()));
  int64_t offset = 0;
  for (const auto& table : tables) {
    for (int64_t u = 0; u < nodes; ++u) {
      std::copy_n(table.center.begin() + u * table.width, table.width,
                  rows.begin() + u * width() + offset);
    }
    offset += table.width;
  }
  return rows;
}

Embedding embed(const Graph& graph, const Adjacency& arcs, const EmbedOptions& options) {
  check(options, graph.node_count());
  Embedding embedding;
  embedding.nodes = graph.node_count();
  const bool line = options.method == EmbedMethod::kLine;
  const auto add_table = [&](int64_t width, bool has_context) {
    const auto size = static_cast<size_t>(embedding.nodes * width);
    require_memory(static_cast<double>(size) * (has_context ? 2 : 1) * sizeof(float),
                   "the embeddings", "choose a smaller width");
    embedding.tables.push_back({.width = width,
                                .center = std::vector<float>(size),
                                .context = std::vector<float>(has_context ? size : 0)});
  };
  if (line && options.order == Order::kBoth) {
    add_table(options.width / 2, false);
    add_table(options.width - options.width / 2, true);
  } else {
    add_table(options.width, !line || options.order == Order::kSecond);
  }
  learn(graph, arcs, options, {}, embedding);
  return embedding;
}

void join_embedding(const Graph& graph, const Adjacency& arcs, const EmbedOptions& options,
                    const std::vector<bool>& fixed, Embedding& embedding) {
  check(options, graph.node_count());
  learn(graph, arcs, options, {fixed.begin(), fixed.end()}, embedding);
}

Embedding embed_online(const Graph& graph, const std::vector<bool>& training,
                       const EmbedOptions& options) {
  Embedding embedding = embed(graph, adjacency_within(graph, training), options);
  if (!embedding.stopped) {
    join_embedding(graph, graph, options, training, embedding);
  }
  return embedding;
}

int64_t default_epochs(int64_t arcs) {
  constexpr int64_t kEnough = 20'000'000;
  return std::clamp<int64_t>(kEnough / std::max<int64_t>(1, arcs), 50, 1000);
}

const OptionTable<EmbedOptions>& embed_option_table() {
  static const auto table = [] {
    using O = EmbedOptions;
    OptionTable<O> all;
    all.add(
        "method", &O::method, one_of<EmbedMethod>(),
        "Embedding method that learns node features from links, in addition to those of the graph; "
        "auto = line if the graph has sparse node features and at most 524,288 links, unless short "
        "runs show a clearly worse validation score, or if it has no node features and they show a "
        "clearly better one; otherwise "
        "none. Unless training is transductive, links of validation and test nodes are not used");
    all.add("order", &O::order, one_of<Order>(),
            "LINE: first-order proximity, linked nodes are similar (first); second-order, nodes "
            "with the same neighbors are similar (second); or half the width for each (both)");
    all.add("width", &O::width, between(1, 1 << 16), "Width of the node embeddings");
    all.add("epochs", &O::epochs, between(0, 1'000'000),
            "LINE: number of samples per arc (an undirected link has two arcs); 0 = 50 to 1000, "
            "depending on the size of the graph");
    all.add("walks", &O::walks, between(1, 1'000'000), "DeepWalk: number of walks per node");
    all.add("length", &O::length, between(2, 10'000), "DeepWalk: number of nodes per walk");
    all.add("window", &O::window, between(1, 100),
            "DeepWalk: maximum distance between paired nodes on a walk");
    all.add("negatives", &O::negatives, between(1, 100),
            "Number of negative samples per positive sample");
    all.add("learning_rate", &O::learning_rate, positive(),
            "Initial learning rate; decays to almost zero");
    all.add("weighted", &O::weighted, any(), "Weight links by the sum of their attributes");
    all.add("seed", &O::seed, any(),
            "Random seed; the same seed gives the same embeddings for any number of threads");
    return all;
  }();
  return table;
}

nlohmann::json to_json(const EmbedOptions& options) {
  return embed_option_table().to_json(options);
}

}  // namespace lase
