#include "lase/graph/describe.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <vector>

#include "lase/base/format.h"

namespace lase {
namespace {

using nlohmann::json;

struct LabelCount {
  std::string name;
  int64_t nodes;
};

std::vector<LabelCount> count_labels(const Labels& labels) {
  std::vector<LabelCount> counts;
  for (int64_t c = 0; c < labels.classes(); ++c)
    counts.push_back({std::string(labels.names[c]), 0});
  for (const int32_t label : labels.label) {
    if (label >= 0) ++counts[static_cast<size_t>(label)].nodes;
  }
  if (labels.task == Task::kMultiLabel) {
    for (int64_t i = 0; i < labels.target.size(); ++i) {
      if (labels.target[i] == 1) ++counts[static_cast<size_t>(i % labels.classes())].nodes;
    }
  }
  return counts;
}

int64_t labeled_nodes(const Graph& graph) {
  int64_t count = 0;
  for (int64_t u = 0; u < graph.node_count(); ++u) count += graph.nodes.labels.known(u) ? 1 : 0;
  return count;
}

// `row`: what a row of the matrix describes, such as "node".
std::string matrix_text(const Attributes& matrix, const Reduction& reduction,
                        std::string_view row) {
  if (matrix.columns == 0) return "none";
  const bool dictionary = matrix.layout == Layout::kDictionary;
  std::ostringstream out;
  out << grouped(matrix.columns) << ", "
      << (dictionary ? "dictionary-encoded" : layout_name(matrix.layout));
  if (dictionary) out << " (" << grouped(matrix.codes()) << " distinct rows)";
  if (matrix.layout == Layout::kSparse && matrix.rows > 0) {
    const double stored =
        static_cast<double>(matrix.values.size()) / static_cast<double>(matrix.rows);
    out << " (" << significant(stored, 3) << " non-zeros per " << row << ")";
  }
  out << ", " << byte_size(matrix.bytes());
  if (reduction.present()) out << ", reduced from " << grouped(reduction.columns());
  return out.str();
}

}  // namespace

json describe_json(const Graph& graph) {
  const Labels& labels = graph.nodes.labels;
  int64_t isolated = 0;
  int64_t max_degree = 0;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    isolated += graph.degree(u) == 0 ? 1 : 0;
    max_degree = std::max(max_degree, graph.degree(u));
  }
  json label_counts = json::object();
  if (labels.task != Task::kRegression) {
    for (const auto& [name, nodes] : count_labels(labels)) label_counts[name] = nodes;
  }
  return {{"nodes", graph.node_count()},
          {"links", graph.links},
          {"arcs", graph.arc_count()},
          {"directed", graph.directed},
          {"separate_directions", graph.separate_directions},
          {"isolated", isolated},
          {"max_degree", max_degree},
          {"node_features", graph.nodes.features.columns},
          {"node_layout", layout_name(graph.nodes.features.layout)},
          {"link_attributes", graph.link_attributes.columns},
          {"link_layout", layout_name(graph.link_attributes.layout)},
          {"link_attribute_bytes", graph.link_attributes.bytes()},
          {"task", task_name(labels.task)},
          {"labels", labels.classes()},
          {"labeled", labeled_nodes(graph)},
          {"label_counts", label_counts},
          {"train", graph.split_size(Split::kTrain)},
          {"val", graph.split_size(Split::kVal)},
          {"test", graph.split_size(Split::kTest)}};
}

std::string describe_text(const Graph& graph) {
  const Labels& labels = graph.nodes.labels;
  const json about = describe_json(graph);
  const int64_t nodes = graph.node_count();
  std::ostringstream out;
  out << "nodes            " << grouped(nodes);
  if (about["isolated"] > 0) {
    out << " (" << grouped(about["isolated"].get<int64_t>()) << " isolated)";
  }
  out << "\nlinks            " << grouped(graph.links) << (graph.directed ? ", directed" : "")
      << (graph.separate_directions ? ", separate attributes per direction" : "");
  if (nodes > 0) {
    const double degree = static_cast<double>(graph.arc_count()) / static_cast<double>(nodes);
    out << " (mean degree " << significant(degree, 3) << ", max "
        << grouped(about["max_degree"].get<int64_t>()) << ")";
  }
  out << "\nnode features    " << matrix_text(graph.nodes.features, graph.node_reduction, "node");
  out << "\nlink attributes  "
      << matrix_text(graph.link_attributes, graph.link_reduction,
                     graph.separate_directions ? "arc" : "link");
  out << "\nlabels           ";
  if (labels.task == Task::kNone) {
    out << "none";
  } else {
    out << grouped(labels.classes())
        << (labels.task == Task::kRegression ? " targets, " : " classes, ")
        << task_name(labels.task);
    const int64_t unknown = nodes - labeled_nodes(graph);
    if (unknown > 0) out << ", unknown for " << grouped(unknown) << " nodes";
    if (labels.task != Task::kRegression) {
      constexpr size_t kShown = 8;
      auto counts = count_labels(labels);
      std::stable_sort(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
      out << "\n                 ";
      for (size_t i = 0; i < std::min(kShown, counts.size()); ++i) {
        out << (i == 0 ? "" : ", ") << counts[i].name << ": " << grouped(counts[i].nodes);
      }
      if (counts.size() > kShown) out << ", and " << counts.size() - kShown << " more";
    }
  }
  out << "\nsplit            ";
  if (graph.nodes.split.empty()) {
    out << "none";
  } else {
    out << grouped(about["train"].get<int64_t>()) << " train, "
        << grouped(about["val"].get<int64_t>()) << " val, " << grouped(about["test"].get<int64_t>())
        << " test";
  }
  out << "\n";
  return out.str();
}

}  // namespace lase
