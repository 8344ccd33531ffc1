#include "lase/graph/export.h"

#include <memory>
#include <string>

#include "lase/base/error.h"
#include "lase/graph/graph.h"

#include "cli/program.h"
#include "cli/session.h"

namespace {

// A word as a shell takes it.
std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_of(" '\"|;$\\") == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void add_export(CLI::App& app, Session& session) {
  struct Options {
    std::string graph;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = session.add_verb(app, "export", verb_summary("export"), [options, &session] {
    const lase::Graph graph = lase::open_graph(options->graph);
    lase::check_graph(graph, options->graph);
    auto words = lase::export_graph(graph, options->folder);
    words.insert(words.begin(), {"lase", "import"});
    std::string command;
    for (const auto& word : words) command += (command.empty() ? "" : " ") + shell_word(word);
    session.out() << "written to " << options->folder << "; to import it again:\n"
                  << command << " --out NEW.graph\n";
    return nlohmann::json{{"folder", options->folder}, {"import", words}};
  });
  verb->add_option("graph", options->graph, "The graph file")->required();
  verb->add_option("--out", options->folder, "The folder to write into")->required();
}
