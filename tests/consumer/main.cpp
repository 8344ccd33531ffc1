#include <iostream>
#include <lase/graph/build.h>
#include <lase/version.h>

int main() {
  lase::RawGraph raw;
  raw.nodes.names = lase::make_string_table(std::vector<std::string>{"ann", "bob", "cid"});
  raw.source.push_back(0);
  raw.target.push_back(1);
  const lase::Graph graph = lase::build_graph(std::move(raw)).graph;
  std::cout << "lase " << lase::kVersion << ": " << graph.node_count() << " nodes\n";
}
