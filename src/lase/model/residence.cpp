#include "lase/model/residence.h"

#include <algorithm>
#include <numeric>

#include "lase/base/format.h"
#include "lase/model/inputs.h"

namespace lase {
namespace {

int64_t bytes_of(const Adjacency& graph) {
  const auto bytes = []<class T>(const Array<T>& values) {
    return values.size() * static_cast<int64_t>(sizeof(T));
  };
  return bytes(graph.row_ptr) + bytes(graph.neighbor) + graph.link.visit(bytes);
}

// The nodes with the most neighbors, which are sampled most often.
std::vector<int64_t> largest_nodes(const Adjacency& graph, int64_t count) {
  std::vector<int64_t> nodes(static_cast<size_t>(graph.node_count()));
  std::iota(nodes.begin(), nodes.end(), int64_t{0});
  count = std::min(count, graph.node_count());
  std::nth_element(nodes.begin(), nodes.begin() + count, nodes.end(), [&](int64_t u, int64_t v) {
    const int64_t a = graph.degree(u);
    const int64_t b = graph.degree(v);
    return a != b ? a > b : u < v;
  });
  nodes.resize(static_cast<size_t>(count));
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace

Residence choose_residence(const Inputs& inputs, const Adjacency& graph, int64_t bytes) {
  const auto fits = [&](int64_t needed) {
    if (needed > bytes) return false;
    bytes -= needed;
    return true;
  };
  Residence result;
  result.adjacency = fits(bytes_of(graph));
  result.links = fits(inputs.link_bytes());
  result.features = fits(inputs.feature_bytes());
  if (!result.features && inputs.dense() && graph.node_count() > 0) {
    result.cached = largest_nodes(graph, bytes * graph.node_count() / inputs.feature_bytes());
  }
  return result;
}

std::string describe(const Residence& residence) {
  std::string text;
  const auto add = [&](bool resident, const std::string& what) {
    if (!resident) text += (text.empty() ? "" : ", ") + what;
  };
  add(residence.adjacency, "adjacency");
  add(residence.links, "link attributes");
  const auto cached = std::ssize(residence.cached);
  const std::string copies = cached == 0 ? "" : " of all but " + grouped(cached) + " nodes";
  add(residence.features, "node features" + copies);
  return text;
}

}  // namespace lase
