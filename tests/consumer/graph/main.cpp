#include <iostream>
#include <lase/graph.h>
#include <lase/version.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  lase::RawGraph raw;
  raw.nodes.names = lase::make_string_table(std::vector<std::string>{"ann", "bob", "cid"});
  raw.source.push_back(0);
  raw.target.push_back(1);
  lase::save_graph(lase::build_graph(std::move(raw)).graph, argv[1]);
  const lase::Graph graph = lase::load_graph(argv[1]);
  std::cout << "lase " << lase::kVersion << ": " << graph.node_count() << " nodes\n";
}
