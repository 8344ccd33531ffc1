#include "theory/graph_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/names.h"
#include "lase/base/parallel.h"

namespace lase {
namespace {

using Matrix = std::vector<double>;  // [n, n'], over pairs of nodes

constexpr std::array<std::string_view, 4> kNames = {"neighbor", "neighborhood", "rw", "wl"};

constexpr double kGiB = 1 << 30;
constexpr double kMostBytes = 6 * kGiB;
constexpr int64_t kMatrices = 3;         // in memory at once: F, K and hop K
constexpr int64_t kGrain = 1 << 14;      // pairs of nodes per chunk
constexpr int64_t kSmallNodes = 1 << 8;  // up to this size, one pair of graphs per thread

size_t index(int64_t i) { return static_cast<size_t>(i); }

// Calls visit(j, f_j) for the stored values of a row; without columns, f = 1.
template <class Visit>
void for_each_value(const Attributes& f, int64_t row, const Visit& visit) {
  if (f.columns == 0) {
    visit(int64_t{0}, 1.0);
  } else {
    f.for_each(row, [&](int64_t j, float value) { visit(j, double{value}); });
  }
}

int64_t column_count(const Attributes& f) { return std::max<int64_t>(1, f.columns); }

// One sparse matrix A_j [n, n] per column j of the link attributes: A_j(u,v) = f(e)_j for the arcs
// u→v.
class Adjacency {
 public:
  struct Entry {
    int32_t u;
    int32_t v;
    double value;
  };

  explicit Adjacency(const Graph& graph) : start_(index(column_count(graph.link_attributes)) + 1) {
    const auto visit_all = [&](const auto& visit) {
      for (int64_t u = 0; u < graph.node_count(); ++u) {
        for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
          for_each_value(graph.link_attributes, graph.link[i], [&](int64_t j, double value) {
            if (value != 0) visit(j, Entry{static_cast<int32_t>(u), graph.neighbor[i], value});
          });
        }
      }
    };
    visit_all([&](int64_t j, const Entry&) { ++start_[index(j) + 1]; });
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    entries_.resize(start_.back());
    std::vector<size_t> next = start_;
    visit_all([&](int64_t j, const Entry& entry) { entries_[next[index(j)]++] = entry; });
  }

  int64_t columns() const { return static_cast<int64_t>(start_.size()) - 1; }

  std::span<const Entry> column(int64_t j) const {
    return std::span(entries_).subspan(start_[index(j)], start_[index(j) + 1] - start_[index(j)]);
  }

  // The entries of column j with u in [first, last).
  std::span<const Entry> rows(int64_t j, int64_t first, int64_t last) const {
    const auto all = column(j);
    const auto before = [](const Entry& entry, int64_t u) { return entry.u < u; };
    const auto from = std::lower_bound(all.begin(), all.end(), first, before);
    return {from, std::lower_bound(from, all.end(), last, before)};
  }

 private:
  std::vector<size_t> start_;   // [columns+1]
  std::vector<Entry> entries_;  // by column, then by u
};

struct Operand {
  explicit Operand(const Graph& graph)
      : n(graph.node_count()), features(graph.nodes.features), links(graph) {}

  int64_t n;
  Attributes features;
  Adjacency links;
};

// Calls body(first, last) for chunks of the rows of an [n, n'] matrix.
template <class Body>
void for_rows(const Operand& a, const Operand& b, const Body& body) {
  parallel_for(a.n, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, b.n)), body);
}

// F(u,u') = ⟨f(u),f(u')⟩
Matrix inner_products(const Operand& a, const Operand& b) {
  Matrix f(index(a.n * b.n));
  for_rows(a, b, [&](int64_t first, int64_t last) {
    std::vector<double> x(index(column_count(a.features)));  // f(u), dense
    for (int64_t u = first; u < last; ++u) {
      std::fill(x.begin(), x.end(), 0.0);
      for_each_value(a.features, u, [&](int64_t j, double value) { x[index(j)] = value; });
      for (int64_t w = 0; w < b.n; ++w) {
        double sum = 0;
        for_each_value(b.features, w, [&](int64_t j, double value) { sum += x[index(j)] * value; });
        f[index(u * b.n + w)] = sum;
      }
    }
  });
  return f;
}

// hop K = Σ_j A_j K A'_jᵀ, as two sparse products per nonempty row of A_j: with s attribute values
// stored on the arcs of a graph, this takes s n' + n s' operations instead of the product of the
// numbers of arcs.
Matrix hop(const Operand& a, const Operand& b, const Matrix& k) {
  Matrix sum(k.size());
  for_rows(a, b, [&](int64_t first, int64_t last) {
    std::vector<double> t(index(b.n));  // row u of A_j K
    for (int64_t j = 0; j < a.links.columns(); ++j) {
      const auto rows = a.links.rows(j, first, last);
      for (auto entry = rows.begin(); entry != rows.end();) {
        const int64_t u = entry->u;
        std::fill(t.begin(), t.end(), 0.0);
        for (; entry != rows.end() && entry->u == u; ++entry) {
          const double* k_v = k.data() + entry->v * b.n;
          for (int64_t w = 0; w < b.n; ++w) t[index(w)] += entry->value * k_v[w];
        }
        double* sum_u = sum.data() + u * b.n;
        for (const auto& other : b.links.column(j))
          sum_u[other.u] += other.value * t[index(other.v)];
      }
    }
  });
  return sum;
}

// K^(0) = F, K^(i) = λ F · hop K^(i−1): the result is λ^links times the sum over pairs of walks
// with `links` links from u and u'.
Matrix walks(const Operand& a, const Operand& b, const Matrix& f, int64_t links, double decay) {
  Matrix k = f;
  for (int64_t i = 0; i < links; ++i) {
    k = hop(a, b, k);
    for (size_t pair = 0; pair < k.size(); ++pair) k[pair] *= decay * f[pair];
  }
  return k;
}

// R^(d) = R^(d−1) + λ hop R^(d−1)
Matrix relabeled(const Operand& a, const Operand& b, Matrix r, int64_t depth, double decay) {
  for (int64_t d = 0; d < depth; ++d) {
    const Matrix neighbors = hop(a, b, r);
    for (size_t pair = 0; pair < r.size(); ++pair) r[pair] += decay * neighbors[pair];
  }
  return r;
}

Matrix node_kernel(const Operand& a, const Operand& b, const KernelOptions& options) {
  Matrix f = inner_products(a, b);
  switch (options.kind) {
    case KernelKind::kNeighbor:
      return hop(a, b, f);
    case KernelKind::kNeighborhood:
      return walks(a, b, f, options.length, options.decay);
    case KernelKind::kRandomWalk:
      return walks(a, b, f, options.length - 1, options.decay);
    case KernelKind::kWeisfeilerLehman:
      return walks(a, b, relabeled(a, b, std::move(f), options.depth, options.decay),
                   options.length - 1, options.decay);
  }
  return f;
}

double graph_kernel(const Operand& a, const Operand& b, const KernelOptions& options) {
  const Matrix k = node_kernel(a, b, options);
  double sum = 0;
  for (auto row = k.begin(); row != k.end(); row += b.n)
    sum += std::accumulate(row, row + b.n, 0.0);
  require(std::isfinite(sum), "the kernel of graphs with ", a.n, " and ", b.n,
          " nodes overflows; try a smaller decay or length");
  return sum;
}

// K(G,G') / √(K(G,G) K(G',G')), computed without overflow and such that K(G,G) becomes exactly 1.
double normalized(double k_ab, double k_aa, double k_bb) {
  return k_aa > 0 && k_bb > 0 ? k_ab / (k_bb * std::sqrt(k_aa / k_bb)) : 0;
}

void check_options(const KernelOptions& options) {
  const int64_t least = options.kind == KernelKind::kNeighborhood ? 0 : 1;
  constexpr int64_t kMost = 1000;
  require_option(options.length >= least && options.length <= kMost, "--length ", options.length,
                 ": must be from ", least, " to ", kMost);
  require_option(options.depth >= 0 && options.depth <= kMost, "--depth ", options.depth,
                 ": must be from 0 to ", kMost);
  require_option(options.decay > 0 && options.decay <= 1, "--decay ", options.decay,
                 ": must be a positive number up to 1");
}

void check_pair(const Graph& a, const Graph& b) {
  const auto check_columns = [](const Attributes& f, const Attributes& g, std::string_view what) {
    require(f.columns == g.columns, "cannot compare graphs with ", f.columns, " and ", g.columns,
            " ", what, "; expected equal numbers");
  };
  check_columns(a.nodes.features, b.nodes.features, "node features");
  check_columns(a.link_attributes, b.link_attributes, "link attributes");
  const double bytes = static_cast<double>(a.node_count()) * static_cast<double>(b.node_count()) *
                       static_cast<double>(kMatrices * sizeof(double));
  require(bytes <= kMostBytes, "the kernel of graphs with ", a.node_count(), " and ",
          b.node_count(), " nodes needs ", std::ceil(bytes / kGiB), " GiB, expected at most ",
          kMostBytes / kGiB, " GiB");
}

}  // namespace

std::string_view name_of(KernelKind kind) { return name_in(kNames, kind); }

KernelKind kernel_named(std::string_view name) {
  return value_named<KernelKind>(name, kNames, "kernel");
}

std::vector<double> node_kernel(const Graph& a, const Graph& b, const KernelOptions& options) {
  check_options(options);
  check_pair(a, b);
  return node_kernel(Operand(a), Operand(b), options);
}

double graph_kernel(const Graph& a, const Graph& b, const KernelOptions& options) {
  check_options(options);
  check_pair(a, b);
  const Operand first(a);
  const Operand second(b);
  const double k = graph_kernel(first, second, options);
  if (!options.normalize) return k;
  check_pair(a, a);
  check_pair(b, b);
  return normalized(k, graph_kernel(first, first, options), graph_kernel(second, second, options));
}

std::vector<double> gram_matrix(std::span<const Graph> graphs, const KernelOptions& options) {
  check_options(options);
  struct Pair {
    size_t i;
    size_t j;
  };
  std::vector<Pair> pairs;
  bool small = true;
  for (size_t i = 0; i < graphs.size(); ++i) {
    small = small && graphs[i].node_count() <= kSmallNodes;
    for (size_t j = 0; j <= i; ++j) {
      check_pair(graphs[j], graphs[i]);
      pairs.push_back({i, j});
    }
  }
  const std::vector<Operand> operands(graphs.begin(), graphs.end());
  const size_t n = graphs.size();
  std::vector<double> gram(n * n);
  const auto fill = [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p) {
      const auto [i, j] = pairs[index(p)];
      gram[i * n + j] = gram[j * n + i] = graph_kernel(operands[j], operands[i], options);
    }
  };
  // Large graphs: one pair at a time on all threads, so that only one pair is in memory.
  const auto count = static_cast<int64_t>(pairs.size());
  if (small) {
    parallel_for(count, 1, fill);
  } else {
    fill(0, count);
  }
  if (!options.normalize) return gram;
  std::vector<double> scaled(n * n);
  for (const auto [i, j] : pairs) {
    scaled[i * n + j] = scaled[j * n + i] =
        normalized(gram[j * n + i], gram[i * n + i], gram[j * n + j]);
  }
  return scaled;
}

}  // namespace lase
