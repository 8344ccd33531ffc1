#include <memory>
#include <string>

#include "lase/graph/describe.h"
#include "lase/graph/graph.h"

#include "cli/program.h"
#include "cli/session.h"

void add_info(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = session.add_command(app, "info", command_summary("info"), [path, &session] {
    const lase::Graph graph = lase::load_graph(*path);
    session.out() << lase::describe_text(graph);
    return lase::describe_json(graph);
  });
  command->add_option("graph", *path, "Graph file")->required();
  command->footer(
      "Examples:\n"
      "  lase info mail.graph\n"
      "  lase info mail.graph --json");
}
