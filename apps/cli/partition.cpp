#include "lase/graph/partition.h"

#include <cmath>
#include <memory>
#include <string>

#include "lase/base/format.h"
#include "lase/base/names.h"
#include "lase/graph/graph.h"
#include "lase/graph/graph_parts.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/paths.h"

namespace {

struct PartitionCommand {
  std::string graph;
  lase::PartitionOptions partition;
  std::string out;
};

nlohmann::json run_partition(const PartitionCommand& options, const Session& session) {
  require_outside(options.graph, options.out);
  const lase::Graph graph = lase::load_graph(options.graph);
  const auto method = lase::choose_partitioner(graph, options.partition);
  const lase::Partition partition = lase::partition_nodes(graph, options.partition);
  lase::save_parts(graph, partition, options.out);
  const lase::PartitionQuality quality = lase::partition_quality(graph, partition);
  // The two arcs of an undirected link are cut together.
  const int64_t cut_links = graph.directed ? quality.cut_arcs : quality.cut_arcs / 2;
  using lase::grouped;
  session.out() << "parts            " << grouped(partition.parts) << ", by "
                << lase::name_of(method) << "\nlargest part     "
                << lase::fixed(quality.node_imbalance, 3) << " x the mean number of nodes, "
                << lase::fixed(quality.arc_imbalance, 3)
                << " x the mean number of arcs\ncut links        " << grouped(cut_links) << " of "
                << grouped(graph.links) << " (" << lase::fixed(100 * quality.cut_fraction, 1)
                << " % of arcs)\nhalo             " << grouped(std::llround(quality.mean_halo))
                << " neighbors in other parts on average, at most " << grouped(quality.max_halo)
                << "\nwritten          " << options.out << "\n";
  return {{"parts", partition.parts},
          {"method", lase::name_of(method)},
          {"nodes", graph.node_count()},
          {"links", graph.links},
          {"cut_links", cut_links},
          {"cut_fraction", quality.cut_fraction},
          {"node_imbalance", quality.node_imbalance},
          {"arc_imbalance", quality.arc_imbalance},
          {"mean_halo", quality.mean_halo},
          {"max_halo", quality.max_halo},
          {"out", options.out}};
}

}  // namespace

void add_partition(CLI::App& app, Session& session) {
  auto options = std::make_shared<PartitionCommand>();
  CLI::App* command =
      session.add_command(app, "partition", command_summary("partition"),
                          [options, &session] { return run_partition(*options, session); });
  command->add_option("graph", options->graph, "Graph file")->required();
  add_flags(*command, lase::partition_option_table().bind(options->partition));
  command->add_option("--out", options->out, "Folder to write to")->required();
  command->footer(
      "Writes one file per part, with its nodes, their features, all their links, and the "
      "attributes of these links. Parts have similar numbers of nodes and arcs, and few links "
      "between them.\n\n"
      "Examples:\n"
      "  lase partition mail.graph --parts 4 --out mail.parts\n"
      "  lase info mail.parts");
}
