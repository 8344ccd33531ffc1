#include "lase/sampler/sampler.h"

#include <ATen/ATen.h>
#include <algorithm>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/kernels/kernels.h"

namespace lase {
namespace {

using at::Tensor;

int64_t sample_size(int64_t degree, int64_t fanout) {
  return fanout == kWholeNeighborhood ? degree : std::min(degree, fanout);
}

// Samples distinct positions within a row, in ascending order, with Floyd's algorithm.
void sample_distinct(int64_t degree, std::span<int64_t> positions, Random& random) {
  int64_t* const begin = positions.data();
  int64_t* end = begin;
  for (int64_t top = degree - std::ssize(positions); top < degree; ++top) {
    const auto position = static_cast<int64_t>(random.below(static_cast<uint64_t>(top) + 1));
    int64_t* at = std::lower_bound(begin, end, position);
    const bool taken = at != end && *at == position;
    if (taken) at = end;  // `top` is greater than all others
    std::copy_backward(at, end, end + 1);
    *at = taken ? top : position;
    ++end;
  }
}

// Binary search for the interval that contains `point`: the last start ≤ point, given that the
// first one is. Branch-free, because a random point defeats branch prediction.
const uint32_t* interval_of(const uint32_t* first, const uint32_t* end, uint32_t point) {
  for (int64_t n = end - first; n > 1;) {
    const int64_t half = n / 2;
    first += first[half] <= point ? half : 0;
    n -= half;
  }
  return first;
}

// The neighborhood of u without hidden arcs: position i in it is the arc at(i).
class VisibleRow {
 public:
  VisibleRow(const Adjacency& graph, const HiddenArcs* hidden, int64_t u)
      : begin_(graph.row_ptr[u]), degree_(graph.degree(u)) {
    if (hidden == nullptr) return;
    hidden_ = hidden->of(graph, u);
    degree_ -= std::ssize(hidden_);
  }
  int64_t degree() const { return degree_; }
  // Of the visible arcs, hidden_[k] − k precede hidden_[k], counted from the start of all rows.
  int64_t at(int64_t i) const {
    const int64_t arc = begin_ + i;
    int64_t first = 0;
    int64_t last = std::ssize(hidden_);
    while (first < last) {
      const int64_t k = first + (last - first) / 2;
      if (hidden_[static_cast<size_t>(k)] - k <= arc) {
        first = k + 1;
      } else {
        last = k;
      }
    }
    return arc + first;
  }

 private:
  int64_t begin_;
  int64_t degree_;
  std::span<const int64_t> hidden_;
};

// Samples from the rows of one layer that are longer than the fan-out.
class RowSampler {
 public:
  RowSampler(const Adjacency& graph, int64_t fanout, Replacement replacement,
             const Probabilities* probabilities)
      : graph_(graph),
        replacement_(replacement),
        probabilities_(probabilities),
        fanout_(static_cast<size_t>(fanout)) {}

  // Calls visit(j, arc, weight) for the j-th sampled arc of u.
  template <class Visit>
  void operator()(int64_t u, const VisibleRow& row, Random& random, const Visit& visit) {
    const int64_t begin = graph_.row_ptr[u];
    const int64_t degree = row.degree();
    positions_.resize(fanout_);  // not earlier: a fan-out may exceed every row
    const auto samples = static_cast<double>(fanout_);
    if (probabilities_ == nullptr) {
      if (replacement_ == Replacement::kWithout) sample_distinct(degree, positions_, random);
      if (replacement_ == Replacement::kWith) {
        for (int64_t& at : positions_) {
          at = static_cast<int64_t>(random.below(static_cast<uint64_t>(degree)));
        }
      }
      const auto weight = static_cast<float>(static_cast<double>(degree) / samples);
      for (size_t j = 0; j < positions_.size(); ++j) visit(j, row.at(positions_[j]), weight);
      return;
    }
    const uint32_t* start = probabilities_->data() + begin;
    sample_by_probability(start, degree, random);
    for (size_t j = 0; j < positions_.size(); ++j) {
      const int64_t at = positions_[j];
      const uint64_t end = at + 1 == degree ? kWholeRow : start[at + 1];
      const auto p = static_cast<double>(end - start[at]) / static_cast<double>(kWholeRow);
      visit(j, begin + at, static_cast<float>(1 / (samples * p)));
    }
  }

 private:
  void sample_by_probability(const uint32_t* start, int64_t degree, Random& random) {
    const auto samples = static_cast<uint64_t>(positions_.size());
    const uint64_t offset = random.bits() >> 32;
    const uint32_t* from = start;
    for (uint64_t j = 0; j < samples; ++j) {
      const bool spaced = replacement_ == Replacement::kWithout;
      const uint64_t point = spaced ? (offset + j * kWholeRow) / samples : random.bits() >> 32;
      const uint32_t* at = interval_of(from, start + degree, static_cast<uint32_t>(point));
      positions_[j] = at - start;
      if (spaced) from = at;
    }
  }

  const Adjacency& graph_;
  Replacement replacement_;
  const Probabilities* probabilities_;
  size_t fanout_;
  std::vector<int64_t> positions_;
};

// A block indexes rows of f(e) with the integer type of the graph.
at::ScalarType link_type(const Adjacency& graph) {
  return graph.link.is_wide() ? at::kLong : at::kInt;
}

class LinkRows {
 public:
  explicit LinkRows(const Tensor& link)
      : is_wide_(link.scalar_type() == at::kLong),
        narrow_(is_wide_ ? nullptr : link.data_ptr<int32_t>()),
        wide_(is_wide_ ? link.data_ptr<int64_t>() : nullptr) {}
  int64_t at(int64_t i) const { return is_wide_ ? wide_[i] : narrow_[i]; }
  void set(int64_t i, int64_t row) const {
    if (is_wide_) {
      wide_[i] = row;
    } else {
      narrow_[i] = static_cast<int32_t>(row);
    }
  }

 private:
  bool is_wide_;
  int32_t* narrow_;
  int64_t* wide_;
};

// A block with uninitialized arcs, up to `fanout` per target.
Block empty_block(const Adjacency& graph, std::span<const int64_t> targets, int64_t fanout,
                  const HiddenArcs* hidden) {
  const auto n = std::ssize(targets);
  Block block;
  block.target = at::arange(n, at::kLong);
  block.leading = true;
  block.row_ptr = at::empty({n + 1}, at::kLong);
  auto* row_ptr = block.row_ptr.data_ptr<int64_t>();
  row_ptr[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    const VisibleRow row(graph, hidden, targets[static_cast<size_t>(i)]);
    row_ptr[i + 1] = row_ptr[i] + sample_size(row.degree(), fanout);
  }
  block.source = at::empty({row_ptr[n]}, at::kInt);
  block.link = at::empty({row_ptr[n]}, link_type(graph));
  return block;
}

// Leaves out arcs at random; source[i] is still the node v.
void drop_arcs(Block& block, std::span<const int64_t> targets, double rate, size_t layer,
               const SampleKey& key) {
  auto* row_ptr = block.row_ptr.data_ptr<int64_t>();
  auto* source = block.source.data_ptr<int32_t>();
  const LinkRows link(block.link);
  auto* weight = block.weight.data_ptr<float>();
  const auto kept = static_cast<float>(1 / (1 - rate));
  int64_t to = 0;
  int64_t arc = 0;
  for (int64_t i = 0; i < block.targets(); ++i) {
    Random random(key.seed, kDropStream, key.epoch, key.batch, layer,
                  targets[static_cast<size_t>(i)]);
    for (const int64_t end = row_ptr[i + 1]; arc < end; ++arc) {
      if (random.uniform() < rate) continue;
      source[to] = source[arc];
      link.set(to, link.at(arc));
      weight[to] = weight[arc] * kept;
      ++to;
    }
    row_ptr[i + 1] = to;
  }
  for (Tensor* x : {&block.source, &block.link, &block.weight}) *x = x->narrow(0, 0, to);
}

// Orders the arcs by source, which must be numbered.
void order_arcs(Block& block) {
  block.by_source = at::empty({block.arcs()}, at::kLong);
  block.arc_target = at::empty({block.arcs()}, at::kInt);
  kernels::order_by_source({.targets = block.targets(),
                            .sources = block.sources,
                            .row_ptr = block.row_ptr.data_ptr<int64_t>(),
                            .source = block.source.data_ptr<int32_t>()},
                           block.by_source.data_ptr<int64_t>(),
                           block.arc_target.data_ptr<int32_t>());
}

}  // namespace

Tensor degrees_of(const Adjacency& graph, std::span<const int64_t> nodes,
                  const HiddenArcs* hidden) {
  Tensor degree = at::empty({std::ssize(nodes)}, at::kFloat);
  auto* to = degree.data_ptr<float>();
  constexpr int64_t kNodes = 4096;
  parallel_for(std::ssize(nodes), kNodes, [&](int64_t first, int64_t last) {
    constexpr int64_t kAhead = 16;  // prefetch distance, to hide memory latency
    for (int64_t i = first; i < last; ++i) {
      const int64_t next = nodes[static_cast<size_t>(std::min(i + kAhead, last - 1))];
      __builtin_prefetch(graph.row_ptr.data() + next);
      const int64_t u = nodes[static_cast<size_t>(i)];
      to[i] = static_cast<float>(hidden == nullptr ? graph.degree(u)
                                                   : hidden->visible_degree(graph, u));
    }
  });
  return degree;
}

Tensor index_of(std::span<const int64_t> nodes) {
  return at::tensor(at::ArrayRef<int64_t>(nodes.data(), nodes.size()), at::kLong);
}

Tensor mask_of(std::span<const int64_t> nodes, int64_t n) {
  Tensor mask = at::zeros({n}, at::kBool);
  auto* in = mask.data_ptr<bool>();
  for (const int64_t node : nodes) in[node] = true;
  return mask;
}

int64_t Batch::arcs() const {
  int64_t sum = 0;
  for (const auto& block : blocks) sum += block.sampled();
  return sum;
}

Batch Batch::to(const at::Device& device) const {
  Batch batch{ops::move(nodes, device), {}};
  for (const auto& block : blocks) batch.blocks.push_back(block.to(device));
  return batch;
}

Block sample_rows(const Adjacency& graph, const RowsToSample& rows, const Sampling& sampling,
                  size_t layer, const SampleKey& key, const HiddenArcs* hidden) {
  const int64_t fanout = sampling.fanouts[layer];
  Block block = empty_block(graph, rows.row, fanout, hidden);
  block.weight = at::empty({block.arcs()}, at::kFloat);
  const auto* row_ptr = block.row_ptr.data_ptr<int64_t>();
  auto* source = block.source.data_ptr<int32_t>();
  const LinkRows link(block.link);
  auto* weight = block.weight.data_ptr<float>();
  constexpr int64_t kTargets = 1024;
  parallel_for(block.targets(), kTargets, [&](int64_t first, int64_t last) {
    RowSampler sample(graph, std::max<int64_t>(0, fanout), sampling.replacement,
                      sampling.probabilities.empty() ? nullptr : &sampling.probabilities[layer]);
    for (int64_t i = first; i < last; ++i) {
      const auto at_row = static_cast<size_t>(i);
      const int64_t u = rows.row[at_row];
      const VisibleRow row(graph, hidden, u);
      const auto set = [&](size_t j, int64_t arc, float w) {
        const int64_t at = row_ptr[i] + static_cast<int64_t>(j);
        source[at] = graph.neighbor[arc];
        link.set(at, graph.link[arc]);
        weight[at] = w;
      };
      if (row_ptr[i + 1] - row_ptr[i] < row.degree()) {
        const int64_t batch = rows.batch.empty() ? key.batch : rows.batch[at_row];
        Random random(key.seed, kSampleStream, key.epoch, batch, layer, rows.node[at_row]);
        sample(u, row, random, set);
      } else {
        const auto degree = static_cast<size_t>(row.degree());
        for (size_t j = 0; j < degree; ++j) set(j, row.at(static_cast<int64_t>(j)), 1);
      }
    }
  });
  return block;
}

BatchBuilder::BatchBuilder(std::span<const int64_t> seeds, const Sampling& sampling,
                           const SampleKey& key)
    : sampling_(sampling), key_(key) {
  for (const int64_t seed : seeds) rows_.number(seed);
  require(rows_.nodes().size() == seeds.size(), "the seed nodes of a batch must be distinct");
}

void BatchBuilder::add(size_t layer, Block block) {
  if (sampling_.link_dropout > 0) {
    drop_arcs(block, rows_.nodes(), sampling_.link_dropout, layer, key_);
  }
  auto* source = block.source.data_ptr<int32_t>();
  for (int64_t i = 0; i < block.arcs(); ++i) source[i] = rows_.number(source[i]);
  block.sources = rows_.size();
  if (static_cast<int64_t>(layer) >= sampling_.ordered_from) order_arcs(block);
  batch_.blocks.insert(batch_.blocks.begin(), std::move(block));
}

Batch BatchBuilder::finish(const Tensor& degrees) {
  for (Block& block : batch_.blocks) block.degree = degrees.narrow(0, 0, block.sources);
  batch_.nodes = index_of(rows_.nodes());
  return std::move(batch_);
}

Batch sample_batch(const Adjacency& graph, std::span<const int64_t> seeds, const Sampling& sampling,
                   const SampleKey& key, const HiddenArcs* hidden) {
  require(hidden == nullptr || sampling.probabilities.empty(),
          "hidden arcs require uniform sampling");
  BatchBuilder builder(seeds, sampling, key);
  for (size_t layer = sampling.fanouts.size(); layer-- > 0;) {
    const std::vector<int64_t>& targets = builder.nodes();
    builder.add(layer, sample_rows(graph, {targets, targets, {}}, sampling, layer, key, hidden));
  }
  return builder.finish(degrees_of(graph, builder.nodes(), hidden));
}

WholeRows whole_rows(const Adjacency& graph, std::span<const int64_t> targets,
                     const HiddenArcs* hidden) {
  WholeRows rows{empty_block(graph, targets, kWholeNeighborhood, hidden), {}};
  Block& block = rows.block;
  const int64_t n = block.targets();
  block.sources = n + block.arcs();
  require(block.sources <= kLargestNarrow, "more than ", kLargestNarrow,
          " neighbors per batch are not supported; use a smaller batch");
  rows.sources = at::empty({block.sources}, at::kLong);
  auto* sources = rows.sources.data_ptr<int64_t>();
  const LinkRows link(block.link);
  const auto* row_ptr = block.row_ptr.data_ptr<int64_t>();
  std::copy(targets.begin(), targets.end(), sources);
  constexpr int64_t kTargets = 512;
  parallel_for(n, kTargets, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const VisibleRow row(graph, hidden, targets[static_cast<size_t>(i)]);
      for (int64_t j = 0; j < row.degree(); ++j) {
        const int64_t arc = row.at(j);
        sources[n + row_ptr[i] + j] = graph.neighbor[arc];
        link.set(row_ptr[i] + j, graph.link[arc]);
      }
    }
  });
  block.source = at::arange(n, block.sources, at::kInt);
  block.degree = degrees_of(graph, {sources, static_cast<size_t>(block.sources)}, hidden);
  return rows;
}

Tensor degrees(const Adjacency& graph) {
  const int64_t nodes = graph.row_ptr.size() - 1;
  Tensor result = at::empty({nodes}, at::kFloat);
  for (int64_t u = 0; u < nodes; ++u) {
    result.data_ptr<float>()[u] = static_cast<float>(graph.degree(u));
  }
  return result;
}

Block whole_block(const Adjacency& graph, const Tensor& degrees, int64_t first, int64_t last) {
  const int64_t begin = graph.row_ptr[first];
  const int64_t arcs = graph.row_ptr[last] - begin;
  const auto in_place = [&]<class T>(const Array<T>& values) {
    return at::from_blob(const_cast<T*>(values.data() + begin), {arcs},
                         c10::CppTypeToScalarType<T>::value);
  };
  Block block;
  block.sources = graph.row_ptr.size() - 1;
  block.target = at::arange(first, last, at::kLong);
  block.row_ptr = at::from_blob(const_cast<int64_t*>(graph.row_ptr.data() + first),
                                {last - first + 1}, at::kLong) -
                  begin;
  block.source = in_place(graph.neighbor);
  block.link = graph.link.visit(in_place);
  block.degree = degrees;
  return block;
}

}  // namespace lase
