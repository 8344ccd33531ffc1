#include "lase/ingest/export.h"

#include <memory>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/graph/graph.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/shell.h"

namespace {

// The `lase import` command that reads the exported tables back, without --out.
std::vector<std::string> import_command(const lase::ExportedTables& tables) {
  std::vector<std::string> words = {"lase", "import"};
  const auto add = [&](const char* format, const std::vector<std::string>& options) {
    words.emplace_back(format);
    words.insert(words.end(), options.begin(), options.end());
  };
  if (const auto* links = std::get_if<lase::LinksOptions>(&tables)) {
    add("links", command_words(lase::links_option_table(), *links));
  } else {
    add("typed", command_words(lase::typed_option_table(), std::get<lase::TypedOptions>(tables)));
  }
  return words;
}

}  // namespace

void add_export(CLI::App& app, Session& session) {
  struct Options {
    std::string graph;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      session.add_command(app, "export", command_summary("export"), [options, &session] {
        const lase::Graph graph = lase::load_graph(options->graph);
        const auto words = import_command(lase::export_graph(graph, options->folder));
        session.out() << "written          " << options->folder << "; to import the tables again:\n"
                      << shell_line(words) << " --out NEW.graph\n";
        return nlohmann::json{{"folder", options->folder}, {"import", words}};
      });
  command->add_option("graph", options->graph, "Graph file")->required();
  command->add_option("--out", options->folder, "Folder to write to")->required();
  command->footer(
      "Example:\n"
      "  lase export mail.graph --out tables    # prints the command that imports them again");
}
