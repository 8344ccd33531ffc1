#include "lase/sampler/sampler.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <unordered_map>

#include "lase/base/parallel.h"
#include "lase/base/random.h"

namespace lase {
namespace {

using at::Tensor;

constexpr uint64_t kDrawStream = 0x44524157;

Tensor to_tensor(const std::vector<int64_t>& values) {
  return at::tensor(at::ArrayRef<int64_t>(values), at::kLong);
}

// Drawn arcs of one node: positions within its row, ascending.
void draw(int64_t degree, int64_t fanout, Random& random, std::vector<int64_t>& positions) {
  positions.clear();
  if (fanout == kWholeNeighborhood || degree <= fanout) {
    for (int64_t i = 0; i < degree; ++i) positions.push_back(i);
    return;
  }
  // Floyd's way to draw distinct positions.
  for (int64_t top = degree - fanout; top < degree; ++top) {
    const auto drawn = static_cast<int64_t>(random.below(static_cast<uint64_t>(top) + 1));
    const bool taken = std::find(positions.begin(), positions.end(), drawn) != positions.end();
    positions.push_back(taken ? top : drawn);
  }
  std::sort(positions.begin(), positions.end());
}

// The arcs drawn for one layer, with v as a node of the graph.
struct DrawnArcs {
  std::vector<int64_t> count;  // [targets]
  std::vector<int64_t> neighbor;
  std::vector<int64_t> link;
  std::vector<float> weight;
};

DrawnArcs draw_layer(const Neighborhoods& graph, const std::vector<int64_t>& targets,
                     int64_t fanout, int64_t layer, const DrawKey& key) {
  const auto n = static_cast<int64_t>(targets.size());
  constexpr int64_t kTargets = 1024;
  std::vector<DrawnArcs> pieces(static_cast<size_t>((n + kTargets - 1) / kTargets));
  parallel_for(n, kTargets, [&](int64_t first, int64_t last) {
    DrawnArcs& piece = pieces[static_cast<size_t>(first / kTargets)];
    std::vector<int64_t> positions;
    for (int64_t i = first; i < last; ++i) {
      const int64_t u = targets[static_cast<size_t>(i)];
      const int64_t degree = graph.degree(u);
      Random random(key.seed, kDrawStream, key.epoch, key.batch, layer, u);
      draw(degree, fanout, random, positions);
      const auto drawn = static_cast<int64_t>(positions.size());
      piece.count.push_back(drawn);
      for (const int64_t position : positions) {
        const int64_t arc = graph.row_ptr[u] + position;
        piece.neighbor.push_back(graph.neighbor[arc]);
        piece.link.push_back(graph.link[arc]);
        piece.weight.push_back(static_cast<float>(degree) / static_cast<float>(drawn));
      }
    }
  });
  if (pieces.size() == 1) return std::move(pieces[0]);
  DrawnArcs all;
  for (const auto& piece : pieces) {
    all.count.insert(all.count.end(), piece.count.begin(), piece.count.end());
    all.neighbor.insert(all.neighbor.end(), piece.neighbor.begin(), piece.neighbor.end());
    all.link.insert(all.link.end(), piece.link.begin(), piece.link.end());
    all.weight.insert(all.weight.end(), piece.weight.begin(), piece.weight.end());
  }
  return all;
}

// Rows of the layer's input: the targets first, then the other neighbours as they appear.
class SourceRows {
 public:
  explicit SourceRows(const std::vector<int64_t>& targets) : nodes_(targets) {
    for (size_t i = 0; i < targets.size(); ++i) row_[targets[i]] = static_cast<int64_t>(i);
  }
  int64_t row(int64_t node) {
    const auto [found, added] = row_.emplace(node, static_cast<int64_t>(nodes_.size()));
    if (added) nodes_.push_back(node);
    return found->second;
  }
  std::vector<int64_t> take() { return std::move(nodes_); }

 private:
  std::unordered_map<int64_t, int64_t> row_;
  std::vector<int64_t> nodes_;
};

Tensor repeat_rows(const std::vector<int64_t>& count) {
  std::vector<int64_t> row;
  for (size_t i = 0; i < count.size(); ++i) {
    row.insert(row.end(), static_cast<size_t>(count[i]), static_cast<int64_t>(i));
  }
  return to_tensor(row);
}

Tensor degrees_of(const Neighborhoods& graph, const std::vector<int64_t>& nodes) {
  std::vector<float> degree;
  degree.reserve(nodes.size());
  for (const int64_t node : nodes) degree.push_back(static_cast<float>(graph.degree(node)));
  return at::tensor(at::ArrayRef<float>(degree), at::kFloat);
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
  std::vector<int64_t> targets(seeds.begin(), seeds.end());
  for (auto layer = static_cast<int64_t>(fanouts.size()) - 1; layer >= 0; --layer) {
    const DrawnArcs arcs =
        draw_layer(graph, targets, fanouts[static_cast<size_t>(layer)], layer, key);
    SourceRows rows(targets);
    std::vector<int64_t> source;
    source.reserve(arcs.neighbor.size());
    for (const int64_t v : arcs.neighbor) source.push_back(rows.row(v));
    Block block;
    block.target = at::arange(static_cast<int64_t>(targets.size()), at::kLong);
    block.row = repeat_rows(arcs.count);
    block.source = to_tensor(source);
    block.link = to_tensor(arcs.link);
    block.weight = at::tensor(at::ArrayRef<float>(arcs.weight), at::kFloat);
    targets = rows.take();
    block.sources = static_cast<int64_t>(targets.size());
    block.degree = degrees_of(graph, targets);
    batch.blocks.insert(batch.blocks.begin(), std::move(block));
  }
  batch.nodes = to_tensor(targets);
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
  std::vector<int64_t> count;
  for (int64_t u = first; u < last; ++u) count.push_back(graph.degree(u));
  const auto widened = [&](const Array<int32_t>& values) {
    return at::from_blob(const_cast<int32_t*>(values.data() + begin), {arcs}, at::kInt)
        .to(at::kLong);
  };
  Block block;
  block.sources = graph.row_ptr.size() - 1;
  block.target = at::arange(first, last, at::kLong);
  block.row = repeat_rows(count);
  block.source = widened(graph.neighbor);
  block.link = widened(graph.link);
  block.weight = at::ones({arcs}, at::kFloat);
  block.degree = degrees;
  return block;
}

}  // namespace lase
