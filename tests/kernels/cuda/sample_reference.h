#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <unordered_map>
#include <vector>

#include "lase/base/random.h"

// A simple serial version of neighbor sampling, without torch, to compare others with.
namespace lase::reference {

struct Graph {
  std::vector<int64_t> row_ptr;
  std::vector<int32_t> neighbor;
  std::vector<int64_t> link;

  int64_t nodes() const { return static_cast<int64_t>(row_ptr.size()) - 1; }
  int64_t arcs() const { return static_cast<int64_t>(neighbor.size()); }
};

struct Layer {
  int64_t fanout = 0;
  const std::vector<uint32_t>* start = nullptr;
};

struct Sampling {
  std::vector<Layer> layers;
  bool replace = false;
  double link_dropout = 0;
  std::vector<int64_t> hidden;  // ascending
  Random sampled{0};
  Random dropped{0};
};

struct Block {
  std::vector<int64_t> row_ptr{0};
  std::vector<int32_t> source;
  std::vector<int64_t> link;
  std::vector<float> weight;
  std::vector<float> degree;
  std::vector<int64_t> by_source;
  std::vector<int32_t> arc_target;
};

struct Batch {
  std::vector<int64_t> nodes;
  std::vector<Block> blocks;
};

inline std::vector<int64_t> visible_row(const Graph& graph, const std::vector<int64_t>& hidden,
                                        int64_t u) {
  std::vector<int64_t> arcs;
  for (int64_t arc = graph.row_ptr[u]; arc < graph.row_ptr[u + 1]; ++arc) {
    if (hidden.empty() || !std::binary_search(hidden.begin(), hidden.end(), arc))
      arcs.push_back(arc);
  }
  return arcs;
}

struct Drawn {
  int64_t position;
  float weight;
};

inline std::vector<Drawn> draw_uniform(int64_t degree, int64_t samples, bool replace,
                                       Random random) {
  const auto weight =
      static_cast<float>(static_cast<double>(degree) / static_cast<double>(samples));
  std::vector<Drawn> drawn;
  if (replace) {
    for (int64_t j = 0; j < samples; ++j) {
      drawn.push_back({static_cast<int64_t>(random.below(static_cast<uint64_t>(degree))), weight});
    }
    return drawn;
  }
  std::set<int64_t> positions;
  for (int64_t top = degree - samples; top < degree; ++top) {
    const auto r = static_cast<int64_t>(random.below(static_cast<uint64_t>(top) + 1));
    if (!positions.insert(r).second) positions.insert(top);
  }
  for (const int64_t position : positions) drawn.push_back({position, weight});
  return drawn;
}

// start [degree] is the part of one row.
inline std::vector<Drawn> draw_by_probability(const uint32_t* start, int64_t degree,
                                              int64_t samples, bool replace, Random random) {
  constexpr uint64_t kWholeRow = uint64_t{1} << 32;
  const uint64_t offset = random.bits() >> 32;
  std::vector<Drawn> drawn;
  for (int64_t j = 0; j < samples; ++j) {
    const uint64_t point =
        replace ? random.bits() >> 32
                : (offset + static_cast<uint64_t>(j) * kWholeRow) / static_cast<uint64_t>(samples);
    const int64_t at = std::upper_bound(start, start + degree, point) - start - 1;
    const uint64_t end = at + 1 < degree ? start[at + 1] : kWholeRow;
    const double p = static_cast<double>(end - start[at]) / static_cast<double>(kWholeRow);
    drawn.push_back({at, static_cast<float>(1 / (static_cast<double>(samples) * p))});
  }
  return drawn;
}

inline std::vector<Drawn> draw_row(const Graph& graph, const Sampling& sampling, size_t layer,
                                   int64_t u, int64_t degree) {
  const Layer& in = sampling.layers[layer];
  if (in.fanout >= 0 && degree > in.fanout) {
    const Random random = sampling.sampled.with(static_cast<int64_t>(layer)).with(u);
    if (in.start == nullptr) return draw_uniform(degree, in.fanout, sampling.replace, random);
    return draw_by_probability(in.start->data() + graph.row_ptr[u], degree, in.fanout,
                               sampling.replace, random);
  }
  std::vector<Drawn> all;
  for (int64_t j = 0; j < degree; ++j) all.push_back({j, 1});
  return all;
}

inline Batch sample(const Graph& graph, const std::vector<int64_t>& seeds,
                    const Sampling& sampling) {
  Batch batch;
  batch.nodes = seeds;
  std::unordered_map<int64_t, int32_t> rows;
  for (size_t i = 0; i < seeds.size(); ++i) rows[seeds[i]] = static_cast<int32_t>(i);
  for (size_t layer = sampling.layers.size(); layer-- > 0;) {
    Block block;
    const std::vector<int64_t> targets = batch.nodes;
    for (size_t i = 0; i < targets.size(); ++i) {
      const auto visible = visible_row(graph, sampling.hidden, targets[i]);
      Random random = sampling.dropped.with(static_cast<int64_t>(layer)).with(targets[i]);
      for (const auto& [position, weight] :
           draw_row(graph, sampling, layer, targets[i], static_cast<int64_t>(visible.size()))) {
        const double rate = sampling.link_dropout;
        if (rate > 0 && random.uniform() < rate) continue;
        const int64_t arc = visible[static_cast<size_t>(position)];
        const int64_t v = graph.neighbor[static_cast<size_t>(arc)];
        const auto [at, is_new] = rows.try_emplace(v, static_cast<int32_t>(batch.nodes.size()));
        if (is_new) batch.nodes.push_back(v);
        block.source.push_back(at->second);
        block.link.push_back(graph.link[static_cast<size_t>(arc)]);
        block.weight.push_back(rate > 0 ? weight * static_cast<float>(1 / (1 - rate)) : weight);
        block.arc_target.push_back(static_cast<int32_t>(i));
      }
      block.row_ptr.push_back(static_cast<int64_t>(block.source.size()));
    }
    for (const int64_t u : batch.nodes) {
      const auto hidden_before = [&](int64_t arc) {
        return std::lower_bound(sampling.hidden.begin(), sampling.hidden.end(), arc) -
               sampling.hidden.begin();
      };
      const int64_t begin = graph.row_ptr[static_cast<size_t>(u)];
      const int64_t end = graph.row_ptr[static_cast<size_t>(u) + 1];
      block.degree.push_back(
          static_cast<float>(end - begin - (hidden_before(end) - hidden_before(begin))));
    }
    block.by_source.resize(block.source.size());
    std::iota(block.by_source.begin(), block.by_source.end(), 0);
    std::stable_sort(block.by_source.begin(), block.by_source.end(), [&](int64_t a, int64_t b) {
      return block.source[static_cast<size_t>(a)] < block.source[static_cast<size_t>(b)];
    });
    batch.blocks.insert(batch.blocks.begin(), std::move(block));
  }
  return batch;
}

// A graph whose degrees follow a power law; a tenth of the nodes has no links.
inline Graph random_graph(int64_t nodes, int64_t links, uint64_t seed) {
  std::vector<double> cumulative;
  std::vector<int32_t> node;
  double sum = 0;
  Random random(seed);
  for (int64_t u = 0; u < nodes; ++u) {
    if (random.chance(0.1)) continue;
    sum += std::pow(static_cast<double>(u % 1009 * 61 + u / 1009 + 10), -0.6);
    cumulative.push_back(sum);
    node.push_back(static_cast<int32_t>(u));
  }
  struct Arc {
    int32_t u;
    int32_t v;
    int64_t link;
  };
  std::vector<Arc> arcs;
  const auto any = [&] {
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform() * sum) -
                    cumulative.begin();
    return node[std::min(static_cast<size_t>(at), node.size() - 1)];
  };
  for (int64_t i = 0; i < links && !node.empty(); ++i) {
    const int32_t u = any();
    const int32_t v = any();
    arcs.push_back({u, v, i});
    arcs.push_back({v, u, i});
  }
  std::sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) {
    return a.u != b.u ? a.u < b.u : a.v != b.v ? a.v < b.v : a.link < b.link;
  });
  Graph graph;
  graph.row_ptr.assign(static_cast<size_t>(nodes) + 1, 0);
  for (const Arc& arc : arcs) {
    ++graph.row_ptr[static_cast<size_t>(arc.u) + 1];
    graph.neighbor.push_back(arc.v);
    graph.link.push_back(arc.link);
  }
  for (size_t u = 1; u < graph.row_ptr.size(); ++u) graph.row_ptr[u] += graph.row_ptr[u - 1];
  return graph;
}

// Intervals of very different lengths; see sampler/probabilities.h.
inline std::vector<uint32_t> random_start(const Graph& graph, uint64_t seed) {
  std::vector<uint32_t> start(graph.neighbor.size());
  for (int64_t u = 0; u < graph.nodes(); ++u) {
    const auto begin = static_cast<size_t>(graph.row_ptr[u]);
    const auto n = static_cast<size_t>(graph.row_ptr[u + 1]) - begin;
    Random random(seed, u);
    std::vector<double> score(n);
    for (double& x : score) x = std::exp(random.normal());
    const double total = std::accumulate(score.begin(), score.end(), 0.0);
    double sum = 0;
    uint64_t least = 0;
    for (size_t i = 0; i < n; ++i) {
      const auto at = static_cast<uint64_t>(sum * 0x1.0p32);
      least = std::clamp(at, least, (uint64_t{1} << 32) - (n - i));
      start[begin + i] = static_cast<uint32_t>(least++);
      sum += 0.1 / static_cast<double>(n) + 0.9 * score[i] / total;
    }
  }
  return start;
}

}  // namespace lase::reference
