#include "lase/base/format.h"

#include "experiments/experiments.h"

namespace lase {

Document table2(Lab& lab) {
  Document document{.name = "table2",
                    .title = "Table 2: data set sizes",
                    .text = "The paper's numbers are in parentheses.",
                    .notes = kStandInNote};
  document.table.columns = {"data set", "nodes", "links", "links per node", "labels", "command"};
  document.values.columns = {"data",        "stand_in",       "nodes",
                             "links",       "links_per_node", "labels",
                             "paper_nodes", "paper_links",    "paper_links_per_node",
                             "paper_labels"};
  for (const auto& name : experiment_data_names()) {
    const ExperimentData* data = lab.data(name);
    if (data == nullptr) continue;
    const Graph& graph = data->graph;
    const double degree =
        static_cast<double>(graph.links) / static_cast<double>(graph.node_count());
    const auto paper = paper_sizes(name);
    const auto beside = [&](const std::string& here, const std::string& there) {
      return paper ? here + " (" + there + ")" : here;
    };
    const PaperSizes published = paper.value_or(PaperSizes{});
    const auto text = [](int64_t value) { return std::to_string(value); };
    const int64_t labels = graph.nodes.labels.classes();
    document.table.rows.push_back({data->marked_title(),
                                   beside(text(graph.node_count()), text(published.nodes)),
                                   beside(text(graph.links), text(published.links)),
                                   beside(fixed(degree, 2), fixed(published.degree, 2)),
                                   beside(text(labels), text(published.labels)), data->recipe});
    document.values.rows.push_back(
        {name, data->stand_in ? "1" : "0", text(graph.node_count()), text(graph.links),
         fixed(degree, 4), text(labels), paper ? text(published.nodes) : "",
         paper ? text(published.links) : "", paper ? fixed(published.degree, 2) : "",
         paper ? text(published.labels) : ""});
  }
  return document;
}

}  // namespace lase
