#include "lase/graph/leaks.h"

#include <algorithm>
#include <map>

namespace lase {
namespace {

constexpr double kSuspicious = 0.99;
constexpr size_t kFewestNodes = 50;
constexpr size_t kBins = 32;
constexpr size_t kNodesPerBin = 5;

// [values]: the bin of each value, with equal values in the same bin.
std::vector<size_t> bins_of(const std::vector<float>& values) {
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const size_t bins = std::clamp<size_t>(sorted.size() / kNodesPerBin, 1, kBins);
  std::vector<float> edges;
  std::vector<float> distinct = sorted;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() <= bins) {
    edges = distinct;
  } else {
    for (size_t b = 0; b < bins; ++b) edges.push_back(sorted[b * sorted.size() / bins]);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  }
  std::vector<size_t> bin;
  bin.reserve(values.size());
  for (const float value : values) {
    const auto above = std::upper_bound(edges.begin(), edges.end(), value);
    bin.push_back(static_cast<size_t>(above - edges.begin()));
  }
  return bin;
}

// Mean recall of the classes if every bin predicts its most common label.
double balanced_accuracy(const std::vector<size_t>& bin, const std::vector<int32_t>& label) {
  std::map<size_t, std::map<int32_t, int64_t>> in_bin;
  std::map<int32_t, int64_t> all;
  std::map<int32_t, int64_t> found;
  for (size_t i = 0; i < bin.size(); ++i) {
    ++in_bin[bin[i]][label[i]];
    ++all[label[i]];
  }
  for (const auto& [_, counts] : in_bin) {
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    found[most->first] += most->second;
  }
  if (all.size() < 2) return 0;
  double recall = 0;
  for (const auto& [c, count] : all) {
    recall += static_cast<double>(found[c]) / static_cast<double>(count);
  }
  return recall / static_cast<double>(all.size());
}

struct TrainingLabels {
  std::vector<int64_t> nodes;
  std::vector<int32_t> label;
};

TrainingLabels training_labels(const Graph& graph) {
  TrainingLabels labels;
  const auto training = training_nodes(graph);
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (!training[static_cast<size_t>(u)] || !graph.nodes.labels.known(u)) continue;
    labels.nodes.push_back(u);
    labels.label.push_back(graph.nodes.labels.label[u]);
  }
  return labels;
}

// [nodes, columns]: the features, with the columns of a category replaced by the number of the one
// that is set; and the names of the columns.
struct Columns {
  std::vector<std::string> names;
  std::vector<std::vector<float>> values;
};

Columns feature_columns(const Graph& graph, const std::vector<int64_t>& nodes) {
  Columns columns;
  std::map<std::string, size_t> number;
  std::vector<size_t> group;  // of each feature
  std::vector<float> code;
  const StringTable& names = graph.nodes.feature_names;
  for (int64_t j = 0; j < names.size(); ++j) {
    const size_t equals = names[j].find('=');
    const std::string name(names[j].substr(0, equals));
    const auto [found, added] = number.emplace(name, columns.names.size());
    if (added) columns.names.push_back(name);
    group.push_back(found->second);
    code.push_back(equals == names[j].npos ? 0 : static_cast<float>(j + 1));
  }
  columns.values.assign(columns.names.size(), std::vector<float>(nodes.size()));
  for (size_t i = 0; i < nodes.size(); ++i) {
    graph.nodes.features.for_each(nodes[i], [&](int64_t j, float value) {
      const auto at = static_cast<size_t>(j);
      if (value != 0) columns.values[group[at]][i] = code[at] == 0 ? value : code[at];
    });
  }
  return columns;
}

Columns link_columns(const Graph& graph, const std::vector<int64_t>& nodes) {
  Columns columns;
  for (int64_t j = 0; j < graph.attribute_names.size(); ++j) {
    columns.names.emplace_back(graph.attribute_names[j]);
  }
  columns.values.assign(columns.names.size(), std::vector<float>(nodes.size()));
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (int64_t arc = graph.row_ptr[nodes[i]]; arc < graph.row_ptr[nodes[i] + 1]; ++arc) {
      graph.link_attributes.for_each(graph.link[arc], [&](int64_t j, float value) {
        columns.values[static_cast<size_t>(j)][i] += value;
      });
    }
  }
  return columns;
}

}  // namespace

std::vector<Leak> find_leaks(const Graph& graph) {
  if (graph.nodes.labels.task != Task::kSingleLabel) return {};
  const TrainingLabels training = training_labels(graph);
  const auto& nodes = training.nodes;
  if (nodes.size() < kFewestNodes) return {};
  constexpr int64_t kMostColumns = 1000;
  constexpr int64_t kMostValues = 100'000'000;
  const auto affordable = [&](int64_t columns) {
    return columns <= kMostColumns && columns * std::ssize(nodes) <= kMostValues;
  };
  std::vector<Leak> leaks;
  const auto check = [&](const Columns& columns, bool of_links) {
    for (size_t j = 0; j < columns.names.size(); ++j) {
      const double accuracy = balanced_accuracy(bins_of(columns.values[j]), training.label);
      if (accuracy > kSuspicious) leaks.push_back({columns.names[j], of_links, accuracy});
    }
  };
  if (affordable(graph.nodes.features.columns)) check(feature_columns(graph, nodes), false);
  if (affordable(graph.link_attributes.columns)) check(link_columns(graph, nodes), true);
  return leaks;
}

}  // namespace lase
