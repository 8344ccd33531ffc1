#include "lase/graph/random_graph.h"

#include <limits>

#include "lase/base/error.h"
#include "lase/base/memory.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/graph/arcs.h"

namespace lase {
namespace {

enum GraphStream : uint64_t {
  kSourceStream = 1,
  kTargetStream,
  kRowStream,
  kValueStream,
  kColumnStream,
  kCodeStream,
  kClassStream
};

constexpr int64_t kChunk = 1 << 16;

// [n]: values of fill(random), computed in parallel.
template <class T, class Fill>
Array<T> filled(int64_t n, uint64_t seed, GraphStream stream, const Fill& fill) {
  Buffer<T> values;
  values.resize(n);
  parallel_for(n, kChunk, [&](int64_t first, int64_t last) {
    Random random(seed, stream, first);
    for (int64_t i = first; i < last; ++i) values[i] = fill(random);
  });
  return values.freeze();
}

float centered(Random& random) { return static_cast<float>(2 * random.uniform() - 1); }

Attributes link_attributes(const RandomGraphOptions& options) {
  Attributes f;
  f.layout = options.layout;
  f.rows = options.links;
  f.columns = options.link_dim;
  const auto below = [](int64_t n) {
    return [n](Random& random) {
      return static_cast<int32_t>(random.below(static_cast<uint64_t>(n)));
    };
  };
  int64_t stored = options.links * options.link_dim;
  if (options.layout == Layout::kSparse) {
    // One column from each of `per_row` equal ranges, so columns ascend within a row.
    const int64_t per_row = std::min(options.stored, options.link_dim);
    stored = options.links * per_row;
    Buffer<int64_t> row_ptr;
    Buffer<int32_t> column;
    row_ptr.resize(options.links + 1);
    column.resize(stored);
    row_ptr[options.links] = stored;
    parallel_for(options.links, kChunk, [&](int64_t first, int64_t last) {
      Random random(options.seed, kColumnStream, first);
      for (int64_t l = first; l < last; ++l) {
        row_ptr[l] = l * per_row;
        for (int64_t i = 0; i < per_row; ++i) {
          const int64_t from = i * options.link_dim / per_row;
          const int64_t to = (i + 1) * options.link_dim / per_row;
          column[l * per_row + i] = static_cast<int32_t>(from) + below(to - from)(random);
        }
      }
    });
    f.row_ptr = row_ptr.freeze();
    f.column = column.freeze();
  }
  if (options.layout == Layout::kDictionary) {
    stored = options.distinct_rows * options.link_dim;
    f.code =
        filled<int32_t>(options.links, options.seed, kCodeStream, below(options.distinct_rows));
  }
  f.values = filled<float>(stored, options.seed, kValueStream, centered);
  return f;
}

}  // namespace

const OptionTable<RandomGraphOptions>& random_graph_option_table() {
  static const auto table = [] {
    using O = RandomGraphOptions;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    OptionTable<O> all;
    all.add("nodes", &O::nodes, between(1, kMost), "Number of nodes");
    all.add("links", &O::links, between(0, kMost), "Number of undirected links");
    all.add("node_dim", &O::node_dim, between(1, 65536), "Number of node features");
    all.add("link_dim", &O::link_dim, between(1, 65536), "Number of link attributes");
    all.add("layout", &O::layout, one_of<Layout>(), "Storage layout of the link attributes");
    all.add("stored", &O::stored, between(1, 65536),
            "Number of stored values per row of sparse attributes");
    all.add("distinct_rows", &O::distinct_rows, between(1, kMost),
            "Number of distinct rows of dictionary-encoded attributes");
    all.add("classes", &O::classes, between(2, kMost), "Number of classes");
    all.add("seed", &O::seed, any(), "Random seed; the same seed gives the same graph");
    return all;
  }();
  return table;
}

Graph random_graph(const RandomGraphOptions& options) {
  random_graph_option_table().check(options);
  const int64_t per_link = options.layout == Layout::kSparse
                               ? 3 * std::min(options.stored, options.link_dim)
                           : options.layout == Layout::kDense ? options.link_dim
                                                              : 1;
  require_memory(4 * (static_cast<double>(options.nodes) * static_cast<double>(options.node_dim) +
                      static_cast<double>(options.links) * static_cast<double>(6 + per_link)),
                 "the arrays of this graph", "choose fewer nodes, links or columns");
  const auto node = [&](Random& random) {
    return static_cast<int32_t>(random.below(static_cast<uint64_t>(options.nodes)));
  };
  const Array<int32_t> source = filled<int32_t>(options.links, options.seed, kSourceStream, node);
  const Array<int32_t> target = filled<int32_t>(options.links, options.seed, kTargetStream, node);
  Graph graph;
  graph.adjacency() = build_adjacency({.source = source.span(),
                                       .target = target.span(),
                                       .nodes = options.nodes,
                                       .keep_self_loops = true},
                                      false);
  graph.links = options.links;
  graph.link_attributes = link_attributes(options);
  graph.attribute_names = numbered_names("attribute ", options.link_dim);
  graph.nodes.names = numbered_names("", options.nodes);
  graph.nodes.features = Attributes::dense(
      filled<float>(options.nodes * options.node_dim, options.seed, kRowStream, centered),
      options.nodes, options.node_dim);
  graph.nodes.feature_names = numbered_names("feature ", options.node_dim);
  Labels& labels = graph.nodes.labels;
  labels.task = Task::kSingleLabel;
  labels.names = numbered_names("class ", options.classes);
  labels.label = filled<int32_t>(options.nodes, options.seed, kClassStream, [&](Random& random) {
    return static_cast<int32_t>(random.below(static_cast<uint64_t>(options.classes)));
  });
  return graph;
}

}  // namespace lase
