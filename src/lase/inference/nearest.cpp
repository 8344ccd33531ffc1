#include "lase/inference/nearest.h"

#include <ATen/ATen.h>
#include <algorithm>

#include "lase/base/error.h"

namespace lase {

std::vector<SimilarNode> nearest_nodes(const at::Tensor& embedding, int64_t node, int64_t count) {
  require(node >= 0 && node < embedding.size(0), "node ", node, " does not exist; there are ",
          embedding.size(0), " embeddings");
  constexpr double kTiny = 1e-12;
  const at::Tensor own = embedding.select(0, node);
  const at::Tensor norm = embedding.norm(2, 1).clamp_min(kTiny);
  at::Tensor similarity = at::mv(embedding, own) / (norm * own.norm().clamp_min(kTiny));
  similarity[node] = -2;  // below all others
  const int64_t shown = std::min(count, embedding.size(0) - 1);
  const auto [value, nodes] = similarity.topk(shown);
  std::vector<SimilarNode> nearest;
  for (int64_t i = 0; i < shown; ++i) {
    nearest.push_back({nodes[i].item<int64_t>(), value[i].item<double>()});
  }
  return nearest;
}

}  // namespace lase
