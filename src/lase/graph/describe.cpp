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
  int64_t count;
};

std::vector<LabelCount> count_labels(const Labels& labels) {
  std::vector<LabelCount> counts;
  for (int64_t c = 0; c < labels.classes(); ++c)
    counts.push_back({std::string(labels.names[c]), 0});
  for (const int32_t label : labels.label) {
    if (label >= 0) ++counts[static_cast<size_t>(label)].count;
  }
  if (labels.task == Task::kMultiLabel) {
    for (int64_t i = 0; i < labels.target.size(); ++i) {
      if (labels.target[i] == 1) ++counts[static_cast<size_t>(i % labels.classes())].count;
    }
  }
  return counts;
}

// `n`: nodes or link targets.
int64_t count_labeled(const Labels& labels, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += labels.known(i) ? 1 : 0;
  return count;
}

int64_t count_split(const Array<uint8_t>& split, Split part) {
  return std::count(split.begin(), split.end(), static_cast<uint8_t>(part));
}

json label_counts_json(const Labels& labels) {
  json counts = json::object();
  if (labels.task == Task::kRegression) return counts;
  for (const auto& [name, count] : count_labels(labels)) counts[name] = count;
  return counts;
}

json split_json(const Array<uint8_t>& split) {
  return {{"train", count_split(split, Split::kTrain)},
          {"val", count_split(split, Split::kVal)},
          {"test", count_split(split, Split::kTest)}};
}

// null if links are not targets.
json targets_json(const LinkTargets& targets) {
  if (targets.size() == 0) return nullptr;
  json about = {{"rows", targets.size()},
                {"task", task_name(targets.labels.task)},
                {"labels", targets.labels.classes()},
                {"labeled", count_labeled(targets.labels, targets.size())},
                {"label_counts", label_counts_json(targets.labels)},
                {"attributes", targets.attributes.columns},
                {"layout", layout_name(targets.attributes.layout)},
                {"relations", targets.relations},
                {"split", nullptr}};
  if (!targets.split.empty()) about["split"] = split_json(targets.split);
  return about;
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
          {"labeled", count_labeled(labels, graph.node_count())},
          {"label_counts", label_counts_json(labels)},
          {"train", graph.split_size(Split::kTrain)},
          {"val", graph.split_size(Split::kVal)},
          {"test", graph.split_size(Split::kTest)},
          {"link_split", graph.link_split.empty() ? json() : split_json(graph.link_split)},
          {"link_targets", targets_json(graph.targets)}};
}

namespace {

constexpr const char* kIndent = "\n                 ";

// "3 classes, single-label, unknown for 2 nodes", and the most frequent classes.
std::string labels_text(const Labels& labels, int64_t n, std::string_view what) {
  if (labels.task == Task::kNone) return "none";
  std::ostringstream out;
  out << grouped(labels.classes())
      << (labels.task == Task::kRegression ? " targets, " : " classes, ") << task_name(labels.task);
  const int64_t unknown = n - count_labeled(labels, n);
  if (unknown > 0) out << ", unknown for " << grouped(unknown) << " " << what;
  if (labels.task == Task::kRegression) return out.str();
  constexpr size_t kShown = 8;
  auto counts = count_labels(labels);
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  out << kIndent;
  for (size_t i = 0; i < std::min(kShown, counts.size()); ++i) {
    out << (i == 0 ? "" : ", ") << counts[i].name << ": " << grouped(counts[i].count);
  }
  if (counts.size() > kShown) out << ", and " << counts.size() - kShown << " more";
  return out.str();
}

std::string split_sizes(const Array<uint8_t>& split) {
  if (split.empty()) return "none";
  std::ostringstream out;
  out << grouped(count_split(split, Split::kTrain)) << " train, "
      << grouped(count_split(split, Split::kVal)) << " val, "
      << grouped(count_split(split, Split::kTest)) << " test";
  return out.str();
}

std::string targets_text(const Graph& graph) {
  const LinkTargets& targets = graph.targets;
  std::ostringstream out;
  out << "\nlink targets     " << grouped(targets.size())
      << " rows, labels: " << labels_text(targets.labels, targets.size(), "rows") << kIndent
      << "attributes: " << matrix_text(targets.attributes, {}, "row") << kIndent
      << "split: " << split_sizes(targets.split);
  const int64_t none = count_split(targets.split, Split::kNone);
  if (none > 0) out << ", " << grouped(none) << " not predicted";
  if (!graph.link_split.empty()) {
    out << "\nlink split       " << split_sizes(graph.link_split) << " (after merging)";
  }
  return out.str();
}

}  // namespace

std::string describe_text(const Graph& graph) {
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
  out << "\nlabels           " << labels_text(graph.nodes.labels, nodes, "nodes");
  out << "\nsplit            " << split_sizes(graph.nodes.split);
  if (graph.targets.size() > 0) out << targets_text(graph);
  out << "\n";
  return out.str();
}

}  // namespace lase
