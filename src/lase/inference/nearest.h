#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace lase {

struct SimilarNode {
  int64_t node = 0;
  double similarity = 0;  // cosine
};

// The `count` nodes whose embeddings are most similar to that of `node`, without the node itself.
// `embedding`: [nodes, width].
std::vector<SimilarNode> nearest_nodes(const at::Tensor& embedding, int64_t node, int64_t count);

}  // namespace lase
