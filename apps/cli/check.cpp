#include <memory>
#include <string>

#include "lase/base/lase_file.h"
#include "lase/graph/graph.h"
#include "lase/graph/graph_parts.h"
#include "lase/model/model_file.h"

#include "cli/program.h"
#include "cli/session.h"

namespace {

// Reads everything in a file and throws lase::Error for the first thing that is wrong. Returns its
// kind.
std::string check_file(const std::string& path) {
  if (lase::is_partitioned(path)) {
    lase::check_parts(lase::open_parts(path));
    return "partitioned graph";
  }
  const lase::FileKind kind = lase::kind_of_file(path);
  if (kind.name == lase::kGraphFile.name) {
    lase::check_structure(lase::load_graph(path), path);
  } else if (kind.name == lase::kModelFile.name) {
    lase::load_model(path);
  } else {
    lase::open_lase_file(path, kind).verify();
  }
  return std::string(kind.name);
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = session.add_command(app, "check", command_summary("check"), [path, &session] {
    const std::string kind = check_file(*path);
    session.out() << *path << ": a valid lase " << kind << "\n";
    return nlohmann::json{{"file", *path}, {"kind", kind}, {"valid", true}};
  });
  command
      ->add_option("file", *path,
                   "Graph, model or checkpoint file, or folder of a partitioned graph")
      ->required();
  command->footer(
      "Verifies the checksum of every array; for a graph and a model also all indices, shapes and "
      "numbers, and for a graph the order and symmetry of its links. For a partitioned graph, "
      "reads all parts.\n\n"
      "Examples:\n"
      "  lase check mail.graph\n"
      "  lase check mail.model");
}
