#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "lase/base/random.h"
#include "lase/base/shuffle.h"
#include "lase/graph/pca.h"
#include "lase/sampler/sampler.h"

#include "report/page_parts.h"
#include "report/tsne.h"

namespace lase::page {
namespace {

// The first two principal components: unscaled as the PCA map, and scaled down to initialize t-SNE.
std::pair<std::vector<float>, std::vector<float>> first_two(const Attributes& reduced) {
  std::vector<float> flat;
  float largest = 1e-12F;
  for (int64_t i = 0; i < reduced.rows; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      flat.push_back(reduced.values[i * reduced.columns + j]);
      largest = std::max(largest, std::abs(flat.back()));
    }
  }
  std::vector<float> start;
  for (const float x : flat) start.push_back(x / largest * 1e-2F);
  return {flat, start};
}

json layout(const std::string& name, const std::vector<float>& places) {
  json x = json::array();
  json y = json::array();
  for (size_t i = 0; i + 1 < places.size(); i += 2) {
    x.push_back(rounded(double{places[i]}));
    y.push_back(rounded(double{places[i + 1]}));
  }
  return {{"name", name}, {"x", x}, {"y", y}};
}

// t-SNE and PCA of the embeddings of the nodes on the map: [shown, width].
json layouts_of(const at::Tensor& embedding, const RunPageOptions& options) {
  const int64_t shown = embedding.size(0);
  const int64_t width = embedding.size(1);
  if (shown <= 3 || width <= 1) return json::array();
  const auto* data = embedding.data_ptr<float>();
  const std::vector<float> rows(data, data + embedding.numel());
  const auto matrix = Attributes::dense(rows, shown, width);
  std::vector<int64_t> all(static_cast<size_t>(shown));
  std::iota(all.begin(), all.end(), int64_t{0});
  const int64_t components = std::min<int64_t>(width, 50);
  const Reduction fit = fit_pca(matrix, all, {.components = components});
  const Attributes reduced = reduce(matrix, fit);
  const auto [flat, start] = first_two(reduced);
  TsneOptions tsne_options{.start = start, .seed = options.seed};
  tsne_options.stop = options.stop;
  tsne_options.progress = [&](const TsneReport& report) {
    tell(options, "computing the t-SNE map",
         static_cast<double>(report.iteration) / static_cast<double>(report.iterations));
  };
  return {layout("t-SNE", tsne(reduced.values.span(), shown, components, tsne_options)),
          layout("PCA", flat)};
}

}  // namespace

std::vector<int64_t> nodes_on_map(const Graph& graph, const RunPageOptions& options) {
  std::vector<int64_t> nodes(static_cast<size_t>(graph.node_count()));
  std::iota(nodes.begin(), nodes.end(), int64_t{0});
  if (std::ssize(nodes) <= options.most_nodes) return nodes;
  Random random(options.seed);
  subsample(nodes, static_cast<size_t>(options.most_nodes), random);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

json map_of(const Graph& graph, const std::vector<int64_t>& nodes, const at::Tensor& embedding,
            const RunPageOptions& options) {
  json names = json::array();
  for (const int64_t u : nodes) names.push_back(std::string(graph.nodes.names[u]));
  return {{"layouts", layouts_of(embedding.index_select(0, index_of(nodes)).contiguous(), options)},
          {"names", names},
          {"of", graph.node_count()}};
}

}  // namespace lase::page
