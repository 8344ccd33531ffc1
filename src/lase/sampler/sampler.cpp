#include "lase/sampler/sampler.h"

#include <ATen/ATen.h>
#include <algorithm>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"

namespace lase {
namespace {

using at::Tensor;

constexpr uint64_t kDrawStream = 0x44524157;

Tensor to_tensor(const std::vector<int64_t>& values) {
  return at::tensor(at::ArrayRef<int64_t>(values), at::kLong);
}

int64_t drawn_of(int64_t degree, int64_t fanout) {
  return fanout == kWholeNeighborhood ? degree : std::min(degree, fanout);
}

// Distinct positions within a row, ascending, by Floyd's method.
void draw(int64_t degree, int64_t fanout, Random& random, int64_t* positions) {
  int64_t* end = positions;
  for (int64_t top = degree - fanout; top < degree; ++top) {
    const auto drawn = static_cast<int64_t>(random.below(static_cast<uint64_t>(top) + 1));
    int64_t* at = std::lower_bound(positions, end, drawn);
    const bool taken = at != end && *at == drawn;
    if (taken) at = end;  // `top` is above all others
    std::copy_backward(at, end, end + 1);
    *at = taken ? top : drawn;
    ++end;
  }
}

// The arcs of one layer, with source[i] still the node v.
Block draw_layer(const Neighborhoods& graph, const std::vector<int64_t>& targets, int64_t fanout,
                 int64_t layer, const DrawKey& key) {
  const auto n = static_cast<int64_t>(targets.size());
  Block block;
  block.target = at::arange(n, at::kLong);
  block.row_ptr = at::empty({n + 1}, at::kLong);
  auto* row_ptr = block.row_ptr.data_ptr<int64_t>();
  row_ptr[0] = 0;
  for (int64_t i = 0; i < n; ++i) {
    row_ptr[i + 1] = row_ptr[i] + drawn_of(graph.degree(targets[static_cast<size_t>(i)]), fanout);
  }
  const int64_t arcs = row_ptr[n];
  block.source = at::empty({arcs}, at::kInt);
  block.link = at::empty({arcs}, at::kInt);
  block.weight = at::empty({arcs}, at::kFloat);
  auto* source = block.source.data_ptr<int32_t>();
  auto* link = block.link.data_ptr<int32_t>();
  auto* weight = block.weight.data_ptr<float>();
  constexpr int64_t kTargets = 1024;
  parallel_for(n, kTargets, [&](int64_t first, int64_t last) {
    std::vector<int64_t> positions;
    for (int64_t i = first; i < last; ++i) {
      const int64_t u = targets[static_cast<size_t>(i)];
      const int64_t degree = graph.degree(u);
      const int64_t drawn = row_ptr[i + 1] - row_ptr[i];
      if (drawn < degree) {
        positions.resize(static_cast<size_t>(drawn));
        Random random(key.seed, kDrawStream, key.epoch, key.batch, layer, u);
        draw(degree, fanout, random, positions.data());
      }
      for (int64_t j = 0; j < drawn; ++j) {
        const int64_t arc =
            graph.row_ptr[u] + (drawn < degree ? positions[static_cast<size_t>(j)] : j);
        source[row_ptr[i] + j] = graph.neighbor[arc];
        link[row_ptr[i] + j] = graph.link[arc];
        weight[row_ptr[i] + j] = static_cast<float>(degree) / static_cast<float>(drawn);
      }
    }
  });
  return block;
}

// Numbers nodes from 0 on as they appear. The table grows with the nodes seen, not with the graph.
class NodeNumbers {
 public:
  int32_t number(int64_t node) {
    if (2 * nodes_.size() >= slots_.size()) grow();
    int32_t& slot = find(node);
    if (slot < 0) {
      slot = static_cast<int32_t>(nodes_.size());
      nodes_.push_back(node);
    }
    return slot;
  }
  const std::vector<int64_t>& nodes() const { return nodes_; }

 private:
  int32_t& find(int64_t node) {
    const size_t mask = slots_.size() - 1;
    size_t at = mix(static_cast<uint64_t>(node)) & mask;
    while (slots_[at] >= 0 && nodes_[static_cast<size_t>(slots_[at])] != node) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    slots_.assign(std::max<size_t>(1024, 4 * slots_.size()), -1);
    for (size_t i = 0; i < nodes_.size(); ++i) find(nodes_[i]) = static_cast<int32_t>(i);
  }
  std::vector<int32_t> slots_;  // open addressing; −1: free
  std::vector<int64_t> nodes_;
};

Tensor degrees_of(const Neighborhoods& graph, const std::vector<int64_t>& nodes) {
  Tensor degree = at::empty({static_cast<int64_t>(nodes.size())}, at::kFloat);
  auto* to = degree.data_ptr<float>();
  for (const int64_t node : nodes) *to++ = static_cast<float>(graph.degree(node));
  return degree;
}

}  // namespace

int64_t Batch::arcs() const {
  int64_t sum = 0;
  for (const auto& block : blocks) sum += block.arcs();
  return sum;
}

Batch sample_batch(const Neighborhoods& graph, std::span<const int64_t> seeds,
                   std::span<const int64_t> fanouts, const DrawKey& key) {
  Batch batch;
  // The rows of a layer's input: the targets first, then the other neighbours as they appear.
  NodeNumbers rows;
  for (const int64_t seed : seeds) rows.number(seed);
  require(rows.nodes().size() == seeds.size(), "a batch names a node twice");
  for (auto layer = static_cast<int64_t>(fanouts.size()) - 1; layer >= 0; --layer) {
    Block block = draw_layer(graph, rows.nodes(), fanouts[static_cast<size_t>(layer)], layer, key);
    auto* source = block.source.data_ptr<int32_t>();
    for (int64_t i = 0; i < block.arcs(); ++i) source[i] = rows.number(source[i]);
    block.sources = static_cast<int64_t>(rows.nodes().size());
    block.degree = degrees_of(graph, rows.nodes());
    batch.blocks.insert(batch.blocks.begin(), std::move(block));
  }
  batch.nodes = to_tensor(rows.nodes());
  return batch;
}

Tensor degrees(const Neighborhoods& graph) {
  const int64_t nodes = graph.row_ptr.size() - 1;
  Tensor result = at::empty({nodes}, at::kFloat);
  for (int64_t u = 0; u < nodes; ++u) {
    result.data_ptr<float>()[u] = static_cast<float>(graph.degree(u));
  }
  return result;
}

Block whole_block(const Neighborhoods& graph, const Tensor& degrees, int64_t first, int64_t last) {
  const int64_t begin = graph.row_ptr[first];
  const int64_t arcs = graph.row_ptr[last] - begin;
  const auto in_place = [&](const Array<int32_t>& values) {
    return at::from_blob(const_cast<int32_t*>(values.data() + begin), {arcs}, at::kInt);
  };
  Block block;
  block.sources = graph.row_ptr.size() - 1;
  block.target = at::arange(first, last, at::kLong);
  block.row_ptr = at::from_blob(const_cast<int64_t*>(graph.row_ptr.data() + first),
                                {last - first + 1}, at::kLong) -
                  begin;
  block.source = in_place(graph.neighbor);
  block.link = in_place(graph.link);
  block.degree = degrees;
  return block;
}

}  // namespace lase
