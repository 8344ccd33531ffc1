#include "lase/embed/pairs.h"

#include <algorithm>

#include "lase/base/error.h"
#include "lase/base/parallel.h"

namespace lase {
namespace {

using kernels::NodePair;

constexpr int64_t kChunk = 4096;  // samples per chunk, approximately
constexpr uint64_t kDraw = 2;

bool is_fixed(std::span<const uint8_t> fixed, int64_t node) {
  return !fixed.empty() && fixed[static_cast<size_t>(node)] != 0;
}

class ArcPairs : public PairSource {
 public:
  explicit ArcPairs(const PairInput& in) : arcs_(in.arcs), seed_(in.options.seed) {
    const int64_t nodes = arcs_.row_ptr.size() - 1;
    source_.resize(static_cast<size_t>(arcs_.neighbor.size()));
    std::vector<float> weight(source_.size(), 1);
    if (!in.weight.empty()) weight.assign(in.weight.begin(), in.weight.end());
    int64_t learned = 0;
    for (int64_t u = 0; u < nodes; ++u) {
      for (int64_t i = arcs_.row_ptr[u]; i < arcs_.row_ptr[u + 1]; ++i) {
        source_[static_cast<size_t>(i)] = static_cast<int32_t>(u);
        const bool learns = !is_fixed(in.fixed, u) || !is_fixed(in.fixed, arcs_.neighbor[i]);
        if (!learns) weight[static_cast<size_t>(i)] = 0;
        learned += learns ? 1 : 0;
      }
    }
    if (learned == 0) return;
    // Uniform sampling does not need an alias table.
    uniform_ = in.weight.empty() && learned == arcs_.neighbor.size();
    if (!uniform_) table_ = AliasTable(weight);
    const int64_t epochs =
        in.options.epochs > 0 ? in.options.epochs : default_epochs(arcs_.neighbor.size());
    chunks_ = (learned * epochs + kChunk - 1) / kChunk;
  }

  int64_t chunks() const override { return chunks_; }

  void draw(int64_t chunk, std::vector<NodePair>& pairs) const override {
    Random random(seed_, kDraw, chunk);
    const auto arcs = static_cast<uint64_t>(arcs_.neighbor.size());
    for (int64_t i = 0; i < kChunk; ++i) {
      const auto arc = uniform_ ? static_cast<int64_t>(random.below(arcs)) : table_.draw(random);
      pairs.push_back({source_[static_cast<size_t>(arc)], arcs_.neighbor[arc]});
    }
  }

 private:
  const Adjacency& arcs_;
  uint64_t seed_;
  std::vector<int32_t> source_;  // [arcs]: u
  AliasTable table_;
  bool uniform_ = true;
  int64_t chunks_ = 0;
};

class WalkPairs : public PairSource {
 public:
  explicit WalkPairs(const PairInput& in)
      : arcs_(in.arcs), fixed_(in.fixed), options_(in.options), weighted_(!in.weight.empty()) {
    const int64_t nodes = arcs_.row_ptr.size() - 1;
    for (int64_t u = 0; u < nodes; ++u) {
      if (arcs_.degree(u) > 0 && !is_fixed(fixed_, u)) starts_.push_back(static_cast<int32_t>(u));
    }
    const int64_t pairs = options_.length * (options_.window + 1);
    walks_ = std::max<int64_t>(1, kChunk / std::max<int64_t>(1, pairs));
    if (!weighted_) return;
    // Cumulative weights per row: a step is a binary search among its arcs.
    cumulative_.resize(in.weight.size());
    parallel_for(nodes, 1024, [&](int64_t first, int64_t last) {
      for (int64_t u = first; u < last; ++u) {
        double total = 0;
        for (int64_t i = arcs_.row_ptr[u]; i < arcs_.row_ptr[u + 1]; ++i) {
          total += in.weight[static_cast<size_t>(i)];
          cumulative_[static_cast<size_t>(i)] = total;
        }
      }
    });
  }

  int64_t chunks() const override { return (walk_count() + walks_ - 1) / walks_; }

  void draw(int64_t chunk, std::vector<NodePair>& pairs) const override {
    std::vector<int32_t> walk;
    const int64_t last = std::min(walk_count(), (chunk + 1) * walks_);
    for (int64_t w = chunk * walks_; w < last; ++w) {
      Random random(options_.seed, kDraw, w);
      const auto starts = static_cast<int64_t>(starts_.size());
      // Every round starts one walk from each node; successive starts are far apart.
      const int64_t start = w % starts * stride() % starts;
      walk.assign(1, starts_[static_cast<size_t>(start)]);
      while (static_cast<int64_t>(walk.size()) < options_.length && take_step(walk, random)) {
      }
      add_pairs(walk, random, pairs);
    }
  }

 private:
  int64_t walk_count() const { return static_cast<int64_t>(starts_.size()) * options_.walks; }

  bool take_step(std::vector<int32_t>& walk, Random& random) const {
    const int64_t u = walk.back();
    const int64_t degree = arcs_.degree(u);
    if (degree == 0) return false;
    const int64_t first = arcs_.row_ptr[u];
    if (!weighted_) {
      const auto step = static_cast<int64_t>(random.below(static_cast<uint64_t>(degree)));
      walk.push_back(arcs_.neighbor[first + step]);
      return true;
    }
    const auto begin = cumulative_.begin() + first;
    const auto end = begin + degree;
    if (*(end - 1) <= 0) return false;
    const auto step = std::upper_bound(begin, end - 1, random.uniform() * *(end - 1)) - begin;
    walk.push_back(arcs_.neighbor[first + step]);
    return true;
  }

  void add_pairs(const std::vector<int32_t>& walk, Random& random,
                 std::vector<NodePair>& pairs) const {
    const auto length = static_cast<int64_t>(walk.size());
    for (int64_t i = 0; i < length; ++i) {
      const auto reach =
          1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(options_.window)));
      const int32_t u = walk[static_cast<size_t>(i)];
      for (int64_t j = std::max<int64_t>(0, i - reach); j <= std::min(length - 1, i + reach); ++j) {
        const int32_t v = walk[static_cast<size_t>(j)];
        if (!(is_fixed(fixed_, u) && is_fixed(fixed_, v))) pairs.push_back({u, v});
      }
    }
  }

  // A prime, so every start is visited once per round.
  int64_t stride() const {
    constexpr int64_t kPrime = 2147483647;
    return kPrime % static_cast<int64_t>(starts_.size()) == 0 ? 1 : kPrime;
  }

  const Adjacency& arcs_;
  std::span<const uint8_t> fixed_;
  const EmbedOptions& options_;
  bool weighted_;
  std::vector<int32_t> starts_;
  std::vector<double> cumulative_;  // [arcs]: cumulative weights per row
  int64_t walks_ = 1;               // walks per chunk
};

}  // namespace

std::unique_ptr<PairSource> arc_pairs(const PairInput& in) {
  return std::make_unique<ArcPairs>(in);
}

std::unique_ptr<PairSource> walk_pairs(const PairInput& in) {
  return std::make_unique<WalkPairs>(in);
}

}  // namespace lase
