#include "lase/graph/divided_graph.h"

#include <algorithm>

#include "lase/base/error.h"

namespace lase {

DividedGraph::DividedGraph(const std::string& folder) : whole_(open_parts(folder)) {
  const int64_t processes = process_count();
  require(processes <= whole_.parts(), folder, ": has ", whole_.parts(), " parts for ", processes,
          " processes; use at most ", whole_.parts(), " processes, or partition the graph into ",
          processes, " parts");
  ProcessGroup* group = current_processes();
  if (group != nullptr) {
    require_agreement(*group, {{"partition", whole_.id}}, "read a partitioned graph together");
  }
  const int64_t rank = group == nullptr ? 0 : group->rank();
  for (int64_t process = 0; process < processes; ++process) {
    RowPlace next{process, 0};
    const auto [first, last] = part_of(whole_.parts(), processes, process);
    for (int64_t part = first; part < last; ++part) {
      first_row_.push_back(next);
      next.row += whole_.sizes[static_cast<size_t>(part)];
    }
  }
  GraphPart part = load_parts(whole_, part_of(whole_.parts(), processes, rank));
  own_ = whole_.graph;
  own_.adjacency() = std::move(part.arcs);
  own_.nodes.features = std::move(part.features);
  own_.link_attributes = std::move(part.link_attributes);
  own_nodes_ = std::move(part.node);
}

std::vector<RowPlace> DividedGraph::places(std::span<const int64_t> nodes) const {
  std::vector<RowPlace> places;
  places.reserve(nodes.size());
  for (const int64_t node : nodes) places.push_back(place(node));
  return places;
}

Adjacency own_arcs_within(const DividedGraph& graph, const std::vector<bool>& visible) {
  const Adjacency& own = graph.own();
  if (std::find(visible.begin(), visible.end(), false) == visible.end()) return own;
  return filter_arcs(own, [&](int64_t row, int64_t arc) {
    return visible[static_cast<size_t>(graph.own_nodes()[row])] &&
           visible[static_cast<size_t>(own.neighbor[arc])];
  });
}

}  // namespace lase
