#include <memory>
#include <string>

#include "lase/graph/describe.h"
#include "lase/graph/graph.h"

#include "cli/program.h"
#include "cli/session.h"

void add_info(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::string>();
  CLI::App* verb = session.add_verb(app, "info", verb_summary("info"), [path, &session] {
    const lase::Graph graph = lase::load_graph(*path);
    session.out() << lase::describe_text(graph);
    return lase::describe_json(graph);
  });
  verb->add_option("graph", *path, "Graph file")->required();
  verb->footer(
      "Examples:\n"
      "  lase info mail.graph\n"
      "  lase info mail.graph --json");
}
