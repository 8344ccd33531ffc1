#include "lase/embed/skip_gram.h"

#include <algorithm>
#include <array>

#include "lase/base/parallel.h"

namespace lase {
namespace {

using kernels::NodePair;

constexpr int32_t kPartitions = 16;  // a power of two
constexpr int32_t kBuckets = kPartitions * kPartitions;
// Chunks per step: enough to reuse the rows of two partitions several times while they are in the
// cache, for graphs of up to a few hundred thousand nodes.
constexpr int64_t kMaxChunks = 512;

// Memory layout of rows during training: the rows of a partition are contiguous, because strided
// rows would map to the same few cache sets.
class Slots {
 public:
  explicit Slots(int64_t nodes)
      : nodes_(nodes), partition_size_((nodes + kPartitions - 1) / kPartitions) {}

  static int32_t partition(int32_t node) { return node & (kPartitions - 1); }
  int32_t of(int32_t node) const {
    return static_cast<int32_t>(partition(node) * partition_size_ + node / kPartitions);
  }
  int64_t count() const { return kPartitions * partition_size_; }
  int64_t partition_size() const { return partition_size_; }

  // Copies rows from node order to slot order, and back.
  template <class T>
  std::vector<T> arranged(std::span<const T> by_node, int64_t width) const {
    std::vector<T> by_slot(static_cast<size_t>(count() * width));
    for (int32_t u = 0; u < nodes_; ++u) {
      std::copy_n(by_node.data() + u * width, width, by_slot.data() + of(u) * width);
    }
    return by_slot;
  }
  void copy_back(const std::vector<float>& by_slot, int64_t width, std::span<float> by_node) const {
    for (int32_t u = 0; u < nodes_; ++u) {
      std::copy_n(by_slot.data() + of(u) * width, width, by_node.data() + u * width);
    }
  }

 private:
  int64_t nodes_;
  int64_t partition_size_;
};

int32_t bucket_of(NodePair pair) {
  const int32_t v = pair.context < 0 ? ~pair.context : pair.context;
  return Slots::partition(pair.center) * kPartitions + Slots::partition(v);
}

// The pairs of one chunk with their negative samples, by bucket; slots instead of nodes.
struct Chunk {
  std::vector<NodePair> pairs;
  std::array<int32_t, kBuckets + 1> begin = {};
  int64_t samples = 0;

  void sort(const std::vector<NodePair>& unsorted, const Slots& slots) {
    begin.fill(0);
    for (const NodePair& pair : unsorted) ++begin[static_cast<size_t>(bucket_of(pair)) + 1];
    for (size_t b = 1; b <= kBuckets; ++b) begin[b] += begin[b - 1];
    pairs.resize(unsorted.size());
    auto at = begin;
    for (const NodePair& pair : unsorted) {
      const int32_t v = pair.context;
      pairs[static_cast<size_t>(at[static_cast<size_t>(bucket_of(pair))]++)] = {
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
    const bool has_context = tables.context.data() != tables.center.data();
    if (has_context) context_ = slots_.arranged<float>(tables.context, width);
    if (!options.fixed.empty()) fixed_ = slots_.arranged<uint8_t>(options.fixed, 1);
    tables_ = {.center = center_.data(),
               .context = has_context ? context_.data() : center_.data(),
               .fixed = fixed_.empty() ? nullptr : fixed_.data(),
               .width = width,
               .rate = 0};
  }

  double learn(const SkipGramTables& tables) {
    const int64_t all = source_.chunks();
    // The learning rate decays in at least 100 steps if there are as many chunks.
    const int64_t per_step = std::clamp<int64_t>(all / 100, 1, kMaxChunks);
    chunks_.resize(static_cast<size_t>(per_step));
    double samples = 0;
    for (int64_t first = 0; first < all; first += per_step) {
      if (options_.stop != nullptr && options_.stop->load()) break;
      const int64_t count = std::min(per_step, all - first);
      parallel_for(count, 1, [&](int64_t i, int64_t) { draw(first + i, i); });
      const double done = static_cast<double>(first) / static_cast<double>(all);
      tables_.rate = static_cast<float>(options_.rate * std::max(1 - done, 1e-4));
      learn_from(count);
      for (int64_t i = 0; i < count; ++i) {
        samples += static_cast<double>(chunks_[static_cast<size_t>(i)].samples);
      }
      if (options_.progress) {
        options_.progress(static_cast<double>(first + count) / static_cast<double>(all), samples);
      }
    }
    slots_.copy_back(center_, tables.width, tables.center);
    if (!context_.empty()) slots_.copy_back(context_, tables.width, tables.context);
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
        // Skip the positive node, the node itself, and pairs that would update nothing.
        if (node == pair.context || node == pair.center) continue;
        if (fixed(node) && fixed(pair.center)) continue;
        all.push_back({pair.center, ~node});
      }
    }
    Chunk& chunk = chunks_[static_cast<size_t>(place)];
    chunk.samples = static_cast<int64_t>(seen.size());
    chunk.sort(all, slots_);
  }

  std::span<const NodePair> pairs_of(int64_t chunk, int64_t bucket) const {
    const Chunk& from = chunks_[static_cast<size_t>(chunk)];
    const auto first = static_cast<size_t>(from.begin[static_cast<size_t>(bucket)]);
    const auto last = static_cast<size_t>(from.begin[static_cast<size_t>(bucket) + 1]);
    return std::span(from.pairs).subspan(first, last - first);
  }

  // Trains on the pairs of a bucket from all chunks, grouped by center node so that its row stays
  // in the L1 cache.
  void learn_bucket(int64_t bucket, int64_t count) const {
    thread_local std::vector<int32_t> at;
    thread_local std::vector<NodePair> pairs;
    const int64_t first_slot = bucket / kPartitions * slots_.partition_size();
    const auto place = [&](const NodePair& pair) {
      return static_cast<size_t>(pair.center - first_slot);
    };
    at.assign(static_cast<size_t>(slots_.partition_size()) + 1, 0);
    for (int64_t i = 0; i < count; ++i) {
      for (const NodePair& pair : pairs_of(i, bucket)) ++at[place(pair) + 1];
    }
    for (size_t s = 1; s < at.size(); ++s) at[s] += at[s - 1];
    pairs.resize(static_cast<size_t>(at.back()));
    for (int64_t i = 0; i < count; ++i) {
      for (const NodePair& pair : pairs_of(i, bucket)) {
        pairs[static_cast<size_t>(at[place(pair)]++)] = pair;
      }
    }
    kernels::skip_gram(tables_, pairs.data(), std::ssize(pairs));
  }

  void learn_from(int64_t count) const {
    if (tables_.center != tables_.context) {
      for (int64_t shift = 0; shift < kPartitions; ++shift) {
        parallel_for(kPartitions, 1, [&](int64_t partition, int64_t) {
          learn_bucket(partition * kPartitions + (partition + shift) % kPartitions, count);
        });
      }
      return;
    }
    // One table: a round-robin schedule pairs every partition with every other once.
    parallel_for(kPartitions, 1, [&](int64_t partition, int64_t) {
      learn_bucket(partition * kPartitions + partition, count);
    });
    constexpr int64_t kOthers = kPartitions - 1;
    for (int64_t round = 0; round < kOthers; ++round) {
      parallel_for(kPartitions / 2, 1, [&](int64_t game, int64_t) {
        const int64_t a = game == 0 ? kOthers : (round + game) % kOthers;
        const int64_t b = (round + kOthers - game) % kOthers;
        learn_bucket(a * kPartitions + b, count);
        learn_bucket(b * kPartitions + a, count);
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
  std::vector<Chunk> chunks_;
};

}  // namespace

double learn_skip_gram(const PairSource& source, const SkipGramOptions& options,
                       const SkipGramTables& tables) {
  return Learner(source, options, tables).learn(tables);
}

}  // namespace lase
