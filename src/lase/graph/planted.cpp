#include "lase/graph/planted.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lase/base/error.h"

namespace lase {
namespace {

// Independent streams of random numbers.
enum PlantedStream : uint64_t {
  kLabelStream = 1,
  kVectorStream,
  kFeatureStream,
  kDegreeStream,
  kBundleStream,
  kNeighborStream,
  kFreeStream,
  kKindStream,
  kAttributeStream,
};

// Heavy-tailed integers that sum to `total`, each at most `limit`: proportional to 1/√U, whose
// density falls as x⁻³. Square roots and sums give the same bits on every machine.
std::vector<int32_t> heavy_tailed(int64_t count, int64_t total, int64_t limit, uint64_t seed,
                                  uint64_t stream) {
  constexpr double kLargest = 300;
  std::vector<double> sums(static_cast<size_t>(count) + 1);
  for (int64_t i = 0; i < count; ++i) {
    Random random(seed, stream, i);
    const double weight = std::min(kLargest, 1 / std::sqrt(1 - random.uniform()));
    sums[static_cast<size_t>(i) + 1] = sums[static_cast<size_t>(i)] + weight;
  }
  std::vector<int32_t> counts(static_cast<size_t>(count));
  const auto up_to = [&](size_t i) {
    return static_cast<int64_t>(sums[i] / sums.back() * static_cast<double>(total));
  };
  int64_t assigned = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    counts[i] = static_cast<int32_t>(std::min(limit, up_to(i + 1) - up_to(i)));
    assigned += counts[i];
  }
  // Distribute what the limit cut off among the entries below it, one at a time.
  for (size_t i = 0; assigned < total; i = (i + 1) % counts.size()) {
    if (counts[i] < limit) {
      ++counts[i];
      ++assigned;
    }
  }
  return counts;
}

std::vector<float> random_vectors(int64_t rows, int64_t columns, uint64_t seed, uint64_t which) {
  std::vector<float> vectors;
  Random random(seed, kVectorStream, which);
  for (int64_t i = 0; i < rows * columns; ++i) {
    vectors.push_back(static_cast<float>(random.normal()));
  }
  return vectors;
}

void check(const PlantedOptions& options) {
  planted_option_table().check(options);
  require_option(options.nodes >= 2 * options.classes, OptionName{"nodes"}, " ", options.nodes,
                 ": must be at least 2 per class");
}

}  // namespace

const OptionTable<PlantedOptions>& planted_option_table() {
  static const auto table = [] {
    using O = PlantedOptions;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    OptionTable<O> all;
    all.add("nodes", &O::nodes, between(4, kMost), "Number of nodes");
    all.add("links", &O::links, between(0, kMost), "Number of links");
    all.add("classes", &O::classes, between(2, 1024), "Number of classes of equal size");
    all.add("node_dim", &O::node_dim, between(0, 65536), "Number of node features");
    all.add("link_dim", &O::link_dim, between(1, 65536), "Number of link attributes");
    all.add("node_signal", &O::node_signal, between(0, 1),
            "Strength of the label signal in a node's own features (0 = none)");
    all.add("link_signal", &O::link_signal, between(0, 1),
            "Probability that a link between nodes of the same label reveals that label");
    all.add(
        "joint_signal", &O::joint_signal, between(0, 1),
        "Fraction of links that reveal the label only in combination with the neighbor's features");
    all.add("homophily", &O::homophily, between(0, 1),
            "Probability that one of the other links joins nodes of the same label");
    all.add("noise", &O::noise, at_least(0),
            "Standard deviation of the noise in node features and dense link attributes");
    all.add("layout", &O::layout, one_of<Layout>(), "Storage layout of the link attributes");
    all.add("split", &O::split, any(), "Proportions of training, validation and test nodes");
    all.add("seed", &O::seed, any(),
            "Random seed; the same seed gives the same graph on every machine");
    return all;
  }();
  return table;
}

PlantedGraph::PlantedGraph(PlantedOptions options) : options_(std::move(options)) {
  check(options_);
  const int64_t c = options_.classes;
  groups_ = options_.nodes / c;
  plan_joint_links();
  const int64_t joint = std::accumulate(joint_bundles_.begin(), joint_bundles_.end(), int64_t{0});
  plan_free_links(options_.links - joint * c * c);
  first_link_.resize(static_cast<size_t>(options_.nodes) + 1);
  for (int64_t u = 0; u < options_.nodes; ++u) {
    const auto i = static_cast<size_t>(u);
    const int64_t bundles = grouped(u) ? joint_bundles_[static_cast<size_t>(u / c)] : 0;
    first_link_[i + 1] = first_link_[i] + bundles * c + free_links_[i];
  }
  label_vectors_ = random_vectors(c, options_.node_dim, options_.seed, 0);
  type_vectors_ = random_vectors(c, options_.node_dim, options_.seed, 1);
  kind_vectors_ = random_vectors(c, options_.link_dim, options_.seed, 2);
}

// A bundle joins all nodes of a group to all nodes of another group of the same z: classes² links.
void PlantedGraph::plan_joint_links() {
  const int64_t c = options_.classes;
  const int64_t bundles =
      static_cast<int64_t>(options_.joint_signal * static_cast<double>(options_.links)) / (c * c);
  joint_bundles_.assign(static_cast<size_t>(groups_), 0);
  if (bundles == 0) return;
  // Groups of equal z are c apart; a group owns bundles to at most half of the others.
  const int64_t limit = (groups_ / c - 1) / 2;
  require_option(limit * (groups_ / c * c) >= bundles, OptionName{"links"}, " ", options_.links,
                 ": with ", options_.nodes, " nodes and ", c, " classes, at most ",
                 std::max<int64_t>(0, limit) * (groups_ / c * c) * c * c, " links can be joint");
  const auto counts = heavy_tailed(groups_ / c * c, bundles, limit, options_.seed, kBundleStream);
  std::copy(counts.begin(), counts.end(), joint_bundles_.begin());
}

void PlantedGraph::plan_free_links(int64_t count) {
  const int64_t limit = options_.nodes / 8;
  require_option(count <= limit * options_.nodes, OptionName{"links"}, " ", options_.links,
                 ": must be at most ", limit * options_.nodes, " for ", options_.nodes, " nodes");
  free_links_ = heavy_tailed(options_.nodes, count, limit, options_.seed, kDegreeStream);
}

int32_t PlantedGraph::label(int64_t u) const {
  if (grouped(u)) return static_cast<int32_t>((z(u) + type(u)) % options_.classes);
  return static_cast<int32_t>(
      Random(options_.seed, kLabelStream, u).below(static_cast<uint64_t>(options_.classes)));
}

void PlantedGraph::features(int64_t u, float* out) const {
  Random random(options_.seed, kFeatureStream, u);
  const float* by_label = label_vectors_.data() + label(u) * options_.node_dim;
  const float* by_type = type_vectors_.data() + type(u) * options_.node_dim;
  const double type_signal = options_.joint_signal > 0 ? 1 : 0;
  for (int64_t j = 0; j < options_.node_dim; ++j) {
    out[j] =
        static_cast<float>(options_.node_signal * double{by_label[j]} +
                           type_signal * double{by_type[j]} + options_.noise * random.normal());
  }
}

// With all nodes on a ring, the owner is the node with the shorter ascending path to the other.
bool PlantedGraph::owns(int64_t u, int64_t v) const {
  const int64_t n = options_.nodes;
  const int64_t up = v >= u ? v - u : v - u + n;
  return up > 0 && (2 * up < n || (2 * up == n && u < v));
}

// Whether a joint link may join u and v; free links never use such pairs.
bool PlantedGraph::joint_pair(int64_t u, int64_t v) const {
  return options_.joint_signal > 0 && grouped(u) && grouped(v) && z(u) == z(v);
}

// The groups to which `group` owns bundles: distinct steps on the ring of groups of equal z.
void PlantedGraph::joint_partners(int64_t group, std::vector<int64_t>& partners) const {
  partners.clear();
  const int64_t c = options_.classes;
  const int64_t ring = groups_ / c;
  const int64_t steps = (ring - 1) / 2;
  const int64_t wanted = joint_bundles_[static_cast<size_t>(group)];
  Random random(options_.seed, kNeighborStream, group);
  // Floyd's algorithm for sampling distinct numbers.
  for (int64_t top = steps - wanted; top < steps; ++top) {
    const auto drawn = static_cast<int64_t>(random.below(static_cast<uint64_t>(top) + 1));
    const auto partner = [&](int64_t step) {
      return (group / c + step + 1) % ring * c + group % c;
    };
    const bool taken =
        std::find(partners.begin(), partners.end(), partner(drawn)) != partners.end();
    partners.push_back(partner(taken ? top : drawn));
  }
}

int64_t PlantedGraph::free_end(Random& random, int64_t u, bool same_label) const {
  const int64_t c = options_.classes;
  if (!same_label) return static_cast<int64_t>(random.below(static_cast<uint64_t>(options_.nodes)));
  const auto group = static_cast<int64_t>(random.below(static_cast<uint64_t>(groups_)));
  return group * c + (label(u) - group % c + c) % c;
}

void PlantedGraph::owned(int64_t u, std::vector<int32_t>& ends) const {
  ends.clear();
  const int64_t c = options_.classes;
  if (grouped(u) && joint_bundles_[static_cast<size_t>(u / c)] > 0) {
    std::vector<int64_t> partners;
    joint_partners(u / c, partners);
    for (const int64_t group : partners) {
      for (int64_t t = 0; t < c; ++t) ends.push_back(static_cast<int32_t>(group * c + t));
    }
  }
  const auto first_free = static_cast<int64_t>(ends.size());
  Random random(options_.seed, kFreeStream, u);
  const auto usable = [&](int64_t v) {
    return owns(u, v) && !joint_pair(u, v) &&
           std::find(ends.begin() + first_free, ends.end(), static_cast<int32_t>(v)) == ends.end();
  };
  for (int32_t i = 0; i < free_links_[static_cast<size_t>(u)]; ++i) {
    constexpr int kTries = 64;
    bool same_label = random.chance(options_.homophily);
    int64_t v = free_end(random, u, same_label);
    for (int tries = 0; tries < kTries && !usable(v); ++tries) {
      if (tries == kTries / 2) same_label = false;  // all nodes of this label may be taken
      v = free_end(random, u, same_label);
    }
    while (!usable(v)) v = (v + 1) % options_.nodes;
    ends.push_back(static_cast<int32_t>(v));
  }
}

int32_t PlantedGraph::kind(int64_t link, int64_t u, int64_t v) const {
  if (joint_pair(u, v)) return static_cast<int32_t>((type(u) + type(v) + z(u)) % options_.classes);
  Random random(options_.seed, kKindStream, link);
  if (label(u) == label(v) && random.chance(options_.link_signal)) return label(u);
  return static_cast<int32_t>(random.below(static_cast<uint64_t>(options_.classes)));
}

void PlantedGraph::attributes(int64_t link, int32_t kind, float* out) const {
  const float* vector = kind_vectors_.data() + kind * options_.link_dim;
  Random random(options_.seed, kAttributeStream, link);
  const bool noisy = options_.layout == Layout::kDense;
  for (int64_t j = 0; j < options_.link_dim; ++j) {
    out[j] = vector[j] + (noisy ? static_cast<float>(options_.noise * random.normal()) : 0.0F);
  }
}

// Counts per column, like contacts per time slice: half of them fall in the columns of the kind,
// which are those equal to it modulo the number of kinds.
void PlantedGraph::attributes(int64_t link, int32_t kind, std::vector<Stored>& out) const {
  out.clear();
  Random random(options_.seed, kAttributeStream, link);
  const int64_t c = std::min(kinds(), options_.link_dim);
  std::vector<int32_t> drawn;
  do {
    auto column = static_cast<int64_t>(random.below(static_cast<uint64_t>(options_.link_dim)));
    if (random.chance(0.5)) column += kind % c - column % c;
    drawn.push_back(static_cast<int32_t>(std::min(column, options_.link_dim - 1)));
  } while (random.chance(0.75));
  std::sort(drawn.begin(), drawn.end());
  for (const int32_t column : drawn) {
    if (!out.empty() && out.back().column == column) {
      out.back().value += 1;
    } else {
      out.push_back({column, 1});
    }
  }
}

}  // namespace lase
