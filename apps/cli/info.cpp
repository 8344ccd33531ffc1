#include <memory>
#include <string>

#include "lase/base/error.h"
#include "lase/base/lase_file.h"
#include "lase/graph/describe.h"
#include "lase/graph/graph.h"
#include "lase/graph/graph_parts.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"

namespace {

struct InfoOptions {
  std::string file;
  int64_t columns = 12;
};

const lase::OptionTable<InfoOptions>& info_table() {
  static const auto table = [] {
    using O = InfoOptions;
    lase::OptionTable<O> all;
    all.add("file", &O::file, lase::any(), "Graph or model file, or folder of a partitioned graph")
        .required()
        .positional();
    all.add("columns", &O::columns, lase::at_least(0),
            "Number of node features and link attributes to list");
    return all;
  }();
  return table;
}

// False for a file that lase did not write, so that opening it as a graph explains what it is.
bool is_model(const std::string& path) try {
  return lase::kind_of_file(path).name == lase::kModelFile.name;
} catch (const lase::Error&) {
  return false;
}

nlohmann::json run_info(const InfoOptions& options, const Session& session) {
  if (is_model(options.file)) {
    auto about = lase::describe_model_json(options.file);
    session.out() << lase::describe_model_text(about);
    return about;
  }
  if (lase::is_partitioned(options.file)) {
    const lase::GraphParts parts = lase::open_parts(options.file);
    session.out() << lase::describe_parts_text(parts);
    return lase::describe_parts_json(parts);
  }
  const lase::Graph graph = lase::load_graph(options.file);
  session.out() << lase::describe_text(graph)
                << lase::describe_details_text(graph, options.columns);
  auto about = lase::describe_json(graph);
  about.update(lase::describe_details_json(graph));
  return about;
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command =
      session.add_command(app, "info", command_summary("info"),
                          [options, &session] { return run_info(*options, session); });
  add_flags(*command, info_table().bind(*options));
  command->footer(
      "Examples:\n"
      "  lase info mail.graph\n"
      "  lase info mail.model\n"
      "  lase info mail.graph --json");
}
