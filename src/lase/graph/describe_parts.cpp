#include <algorithm>
#include <sstream>
#include <string>

#include "lase/base/format.h"
#include "lase/graph/describe.h"

namespace lase {

nlohmann::json describe_parts_json(const GraphParts& parts) {
  const Graph& graph = parts.graph;
  return {{"nodes", parts.node_count()},
          {"links", graph.links},
          {"arcs", parts.arcs},
          {"directed", graph.directed},
          {"separate_directions", graph.separate_directions},
          {"node_features", parts.node_features.columns},
          {"node_layout", layout_name(parts.node_features.layout)},
          {"link_attributes", parts.link_attributes.columns},
          {"link_layout", layout_name(parts.link_attributes.layout)},
          {"task", task_name(graph.nodes.labels.task)},
          {"labels", graph.nodes.labels.classes()},
          {"train", graph.split_size(Split::kTrain)},
          {"val", graph.split_size(Split::kVal)},
          {"test", graph.split_size(Split::kTest)},
          {"fingerprint", graph.fingerprint},
          {"parts", parts.parts()},
          {"part_nodes", parts.sizes}};
}

std::string describe_parts_text(const GraphParts& parts) {
  const Graph& graph = parts.graph;
  const auto matrix = [](const Attributes& form) {
    if (form.columns == 0) return std::string("none");
    return grouped(form.columns) + ", " + std::string(layout_name(form.layout));
  };
  const auto [least, most] = std::minmax_element(parts.sizes.begin(), parts.sizes.end());
  const Labels& labels = graph.nodes.labels;
  std::ostringstream out;
  out << "nodes            " << grouped(parts.node_count()) << "\nlinks            "
      << grouped(graph.links) << (graph.directed ? ", directed" : "")
      << (graph.separate_directions ? ", separate attributes per direction" : "")
      << "\nnode features    " << matrix(parts.node_features) << "\nlink attributes  "
      << matrix(parts.link_attributes) << "\nlabels           ";
  if (labels.task == Task::kNone) {
    out << "none";
  } else {
    out << grouped(labels.classes()) << ", " << task_name(labels.task);
  }
  out << "\nsplit            ";
  if (graph.nodes.split.empty()) {
    out << "none";
  } else {
    out << grouped(graph.split_size(Split::kTrain)) << " train, "
        << grouped(graph.split_size(Split::kVal)) << " val, "
        << grouped(graph.split_size(Split::kTest)) << " test";
  }
  out << "\nparts            " << grouped(parts.parts()) << ", with " << grouped(*least) << " to "
      << grouped(*most) << " nodes\n";
  return out.str();
}

}  // namespace lase
