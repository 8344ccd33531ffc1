#include "lase/ingest/node_pairs.h"

#include <string_view>
#include <unordered_map>

#include "lase/base/error.h"
#include "lase/ingest/column_roles.h"
#include "lase/ingest/table.h"

namespace lase {

NodePairs read_node_pairs(const std::string& path, const StringTable& names) {
  std::unordered_map<std::string_view, int32_t> node_of;
  for (int64_t u = 0; u < names.size(); ++u) node_of.emplace(names[u], static_cast<int32_t>(u));
  Table table(path, {});
  const ColumnRoles roles(table, link_roles(LinkTableOptions()));
  const auto add = [&](const Row& row, std::string_view role, std::vector<int32_t>& nodes) {
    const int64_t column = roles.at(role);
    const auto found = node_of.find(row.text(column));
    if (found == node_of.end()) row.fail(column, "a node of the graph");
    nodes.push_back(found->second);
    return column;
  };
  NodePairs pairs;
  table.read<NodePairs>(
      [&](NodePairs& chunk, const Row& row) {
        add(row, "source", chunk.source);
        const int64_t target = add(row, "target", chunk.target);
        if (chunk.source.back() == chunk.target.back()) row.fail(target, "another node");
      },
      [&](const NodePairs& chunk) {
        pairs.source.insert(pairs.source.end(), chunk.source.begin(), chunk.source.end());
        pairs.target.insert(pairs.target.end(), chunk.target.begin(), chunk.target.end());
      });
  require(!pairs.source.empty(), path, ": has no pairs of nodes");
  return pairs;
}

}  // namespace lase
