#include "lase/embed/skip_gram.h"

#include <algorithm>
#include <array>

#include "lase/base/parallel.h"

namespace lase {
namespace {

using kernels::NodePair;

constexpr int32_t kParts = 16;  // a power of two
constexpr int32_t kBlocks = kParts * kParts;
// Worked on at once: as many as make the rows of two parts be met several times while they are in
// the cache, for graphs of up to some hundred thousand nodes.
constexpr int64_t kMostPortions = 512;

// Where the rows of nodes lie while they learn: those of one part side by side, because rows at a
// distance of many parts would fall into the same few places of a cache.
class Slots {
 public:
  explicit Slots(int64_t nodes) : nodes_(nodes), part_size_((nodes + kParts - 1) / kParts) {}

  static int32_t part(int32_t node) { return node & (kParts - 1); }
  int32_t of(int32_t node) const {
    return static_cast<int32_t>(part(node) * part_size_ + node / kParts);
  }
  int64_t count() const { return kParts * part_size_; }
  int64_t part_size() const { return part_size_; }

  // Rows by node to rows by slot, and back.
  template <class T>
  std::vector<T> arranged(std::span<const T> by_node, int64_t width) const {
    std::vector<T> by_slot(static_cast<size_t>(count() * width));
    for (int32_t u = 0; u < nodes_; ++u) {
      std::copy_n(by_node.data() + u * width, width, by_slot.data() + of(u) * width);
    }
    return by_slot;
  }
  void put_back(const std::vector<float>& by_slot, int64_t width, std::span<float> by_node) const {
    for (int32_t u = 0; u < nodes_; ++u) {
      std::copy_n(by_slot.data() + of(u) * width, width, by_node.data() + u * width);
    }
  }

 private:
  int64_t nodes_;
  int64_t part_size_;
};

int32_t block_of(NodePair pair) {
  const int32_t v = pair.context < 0 ? ~pair.context : pair.context;
  return Slots::part(pair.center) * kParts + Slots::part(v);
}

// The pairs of one portion with their noise, by block; slots in place of nodes.
struct Portion {
  std::vector<NodePair> pairs;
  std::array<int32_t, kBlocks + 1> begin = {};
  int64_t samples = 0;

  void sort(const std::vector<NodePair>& unsorted, const Slots& slots) {
    begin.fill(0);
    for (const NodePair& pair : unsorted) ++begin[static_cast<size_t>(block_of(pair)) + 1];
    for (size_t b = 1; b <= kBlocks; ++b) begin[b] += begin[b - 1];
    pairs.resize(unsorted.size());
    auto at = begin;
    for (const NodePair& pair : unsorted) {
      const int32_t v = pair.context;
      pairs[static_cast<size_t>(at[static_cast<size_t>(block_of(pair))]++)] = {
          slots.of(pair.center), v < 0 ? ~slots.of(~v) : slots.of(v)};
    }
  }
};

class Learner {
 public:
  Learner(const PairSource& source, const SkipGramOptions& options, const SkipGramTables& tables)
      : source_(source), options_(options), noise_(options.noise), slots_(noise_.size()) {
    const int64_t width = tables.width;
    center_ = slots_.arranged<float>(tables.center, width);
    const bool two = tables.context.data() != tables.center.data();
    if (two) context_ = slots_.arranged<float>(tables.context, width);
    if (!options.fixed.empty()) fixed_ = slots_.arranged<uint8_t>(options.fixed, 1);
    tables_ = {.center = center_.data(),
               .context = two ? context_.data() : center_.data(),
               .fixed = fixed_.empty() ? nullptr : fixed_.data(),
               .width = width,
               .rate = 0};
  }

  double learn(const SkipGramTables& tables) {
    const int64_t all = source_.portions();
    // The rate falls in at least a hundred steps where there is work for as many.
    const int64_t together = std::clamp<int64_t>(all / 100, 1, kMostPortions);
    portions_.resize(static_cast<size_t>(together));
    double samples = 0;
    for (int64_t first = 0; first < all; first += together) {
      if (options_.stop != nullptr && options_.stop->load()) break;
      const int64_t count = std::min(together, all - first);
      parallel_for(count, 1, [&](int64_t i, int64_t) { draw(first + i, i); });
      const double done = static_cast<double>(first) / static_cast<double>(all);
      tables_.rate = static_cast<float>(options_.rate * std::max(1 - done, 1e-4));
      learn_from(count);
      for (int64_t i = 0; i < count; ++i) {
        samples += static_cast<double>(portions_[static_cast<size_t>(i)].samples);
      }
      if (options_.progress) {
        options_.progress(static_cast<double>(first + count) / static_cast<double>(all), samples);
      }
    }
    slots_.put_back(center_, tables.width, tables.center);
    if (!context_.empty()) slots_.put_back(context_, tables.width, tables.context);
    return samples;
  }

 private:
  bool fixed(int32_t node) const {
    return !options_.fixed.empty() && options_.fixed[static_cast<size_t>(node)] != 0;
  }

  void draw(int64_t number, int64_t place) {
    thread_local std::vector<NodePair> seen;
    thread_local std::vector<NodePair> all;
    seen.clear();
    all.clear();
    source_.draw(number, seen);
    Random random(options_.seed, kNoise, number);
    std::erase_if(seen, [](const NodePair& pair) { return pair.center == pair.context; });
    for (const NodePair& pair : seen) {
      all.push_back(pair);
      for (int64_t k = 0; k < options_.negatives; ++k) {
        const int32_t node = noise_.draw(random);
        // A neighbour is no noise, nor is the node itself, nor a step that would change nothing.
        if (node == pair.context || node == pair.center) continue;
        if (fixed(node) && fixed(pair.center)) continue;
        all.push_back({pair.center, ~node});
      }
    }
    Portion& portion = portions_[static_cast<size_t>(place)];
    portion.samples = static_cast<int64_t>(seen.size());
    portion.sort(all, slots_);
  }

  std::span<const NodePair> pairs_of(int64_t portion, int64_t block) const {
    const Portion& from = portions_[static_cast<size_t>(portion)];
    const auto first = static_cast<size_t>(from.begin[static_cast<size_t>(block)]);
    const auto last = static_cast<size_t>(from.begin[static_cast<size_t>(block) + 1]);
    return std::span(from.pairs).subspan(first, last - first);
  }

  // The pairs of a block from all portions, those of one node together, so that its row stays in
  // the nearest cache.
  void learn_block(int64_t block, int64_t count) const {
    thread_local std::vector<int32_t> at;
    thread_local std::vector<NodePair> pairs;
    const int64_t first_slot = block / kParts * slots_.part_size();
    const auto place = [&](const NodePair& pair) {
      return static_cast<size_t>(pair.center - first_slot);
    };
    at.assign(static_cast<size_t>(slots_.part_size()) + 1, 0);
    for (int64_t i = 0; i < count; ++i) {
      for (const NodePair& pair : pairs_of(i, block)) ++at[place(pair) + 1];
    }
    for (size_t s = 1; s < at.size(); ++s) at[s] += at[s - 1];
    pairs.resize(static_cast<size_t>(at.back()));
    for (int64_t i = 0; i < count; ++i) {
      for (const NodePair& pair : pairs_of(i, block)) {
        pairs[static_cast<size_t>(at[place(pair)]++)] = pair;
      }
    }
    kernels::skip_gram(tables_, pairs.data(), std::ssize(pairs));
  }

  void learn_from(int64_t count) const {
    if (tables_.center != tables_.context) {
      for (int64_t shift = 0; shift < kParts; ++shift) {
        parallel_for(kParts, 1, [&](int64_t part, int64_t) {
          learn_block(part * kParts + (part + shift) % kParts, count);
        });
      }
      return;
    }
    // One table: every part meets every other as in a tournament, the last one stays at its place.
    parallel_for(kParts, 1,
                 [&](int64_t part, int64_t) { learn_block(part * kParts + part, count); });
    constexpr int64_t kOthers = kParts - 1;
    for (int64_t round = 0; round < kOthers; ++round) {
      parallel_for(kParts / 2, 1, [&](int64_t game, int64_t) {
        const int64_t a = game == 0 ? kOthers : (round + game) % kOthers;
        const int64_t b = (round + kOthers - game) % kOthers;
        learn_block(a * kParts + b, count);
        learn_block(b * kParts + a, count);
      });
    }
  }

  static constexpr uint64_t kNoise = 1;
  const PairSource& source_;
  const SkipGramOptions& options_;
  AliasTable noise_;
  Slots slots_;
  std::vector<float> center_;
  std::vector<float> context_;
  std::vector<uint8_t> fixed_;
  kernels::SkipGram tables_;
  std::vector<Portion> portions_;
};

}  // namespace

double learn_skip_gram(const PairSource& source, const SkipGramOptions& options,
                       const SkipGramTables& tables) {
  return Learner(source, options, tables).learn(tables);
}

}  // namespace lase
