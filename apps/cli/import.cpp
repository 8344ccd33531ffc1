#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/graph/build.h"
#include "lase/graph/describe.h"
#include "lase/graph/graph.h"
#include "lase/graph/leaks.h"
#include "lase/graph/pca.h"
#include "lase/graph/schema.h"
#include "lase/ingest/format.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/paths.h"

namespace {

struct ImportOptions {
  std::unique_ptr<lase::Import> import;
  std::string out;
  std::string like;
  int64_t reduce_nodes = 0;
  int64_t reduce_links = 0;
};

const lase::OptionTable<ImportOptions>& import_table() {
  static const auto table = [] {
    using O = ImportOptions;
    lase::OptionTable<O> all;
    all.add("out", &O::out, lase::any(), "Graph file to write").required();
    all.add("like", &O::like, lase::any(),
            "Reuse the columns, classes and fitted preprocessing of this graph, so that its models "
            "apply to the new graph");
    all.add("node_pca", &O::reduce_nodes, lase::at_least(0),
            "Reduce node features to this many principal components (0 = off)");
    all.add("link_pca", &O::reduce_links, lase::at_least(0),
            "Reduce link attributes to this many principal components (0 = off)");
    return all;
  }();
  return table;
}

// Help footer per format. `lase export` writes the files of `links` and `typed`.
std::string examples(const std::string& format) {
  static const std::map<std::string, std::string> all = {
      {"links",
       "Examples:\n"
       "  lase import links payments/payments.csv --nodes payments/accounts.csv --label status \\\n"
       "      --split 60/20/20 --time date --slices-by hour --out payments.graph\n"
       "  lase export planted.graph --out planted\n"
       "  lase import links planted/links.csv --nodes planted/nodes.csv --label label \\\n"
       "      --split split --features planted/features.npy --out links.graph"},
      {"contacts",
       "Examples:\n"
       "  lase import contacts mail/contacts.csv --nodes mail/people.csv --label department \\\n"
       "      --split split --separate-directions --out mail.graph\n"
       "  lase import contacts new/contacts.csv --nodes new/people.csv --label department \\\n"
       "      --split split --like mail.graph --out new.graph"},
      {"typed",
       "Examples:\n"
       "  lase import typed facts.csv --relation predicate --label kind --label-of source \\\n"
       "      --split 60/20/20 --separate-directions --out facts.graph\n"
       "  lase export mail.graph --out tables\n"
       "  lase import typed tables/links.csv --nodes tables/nodes.csv --label label \\\n"
       "      --split split --separate-directions --features tables/features.npy \\\n"
       "      --feature-names tables/features.txt --out typed.graph"},
      {"sets",
       "Examples:\n"
       "  lase import sets mail/people.csv --members department --label level --split split \\\n"
       "      --out colleagues.graph\n"
       "  lase import sets papers.tsv --members authors --label venue --text title \\\n"
       "      --split 65/15/20 --out papers.graph"},
      {"authors",
       "Example:\n"
       "  lase import authors email_Eu/email_Eu --out email.graph    # reads email_Eu-G.json, ..."},
      {"ogb",
       "Examples:\n"
       "  lase download ogbn-arxiv --out arxiv && unzip arxiv/arxiv.zip -d arxiv\n"
       "  lase import ogb arxiv/arxiv --out arxiv.graph"},
      {"hgb",
       "Example:\n"
       "  lase import hgb HGB/ACM --separate-directions --out acm.graph"},
  };
  const auto found = all.find(format);
  return found == all.end() ? "" : found->second;
}

// Messages with option names as flags.
std::vector<std::string> spelled(const std::vector<std::string>& messages) {
  std::vector<std::string> texts;
  texts.reserve(messages.size());
  for (const auto& message : messages) {
    texts.push_back(
        lase::Error(message).spelled([](auto name) { return flag_of(std::string(name)); }));
  }
  return texts;
}

// The first names of a list, and how many more there are.
std::string shortened(const std::vector<std::string>& names) {
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kShown) {
    text += " and " + lase::grouped(static_cast<int64_t>(names.size() - kShown)) + " more";
  }
  return text;
}

// Shows how a table was read: its format, and the columns of each role.
void print_table(const lase::TableReport& table, std::ostream& out) {
  constexpr const char* kIndent = "                 ";
  out << "read             " << table.file << " (" << table.delimiter << "-separated, "
      << (table.header ? "with a header" : "without a header") << ")\n";
  for (const auto& [role, columns] : table.roles) {
    out << kIndent << role << ": " << shortened(columns) << "\n";
  }
  if (!table.ignored.empty())
    out << kIndent << "ignored: " << shortened(spelled(table.ignored)) << "\n";
}

nlohmann::json tables_json(const std::vector<lase::TableReport>& tables) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& table : tables) {
    nlohmann::json columns = nlohmann::json::object();
    for (const auto& [role, names] : table.roles) columns[role] = names;
    all.push_back({{"file", table.file},
                   {"delimiter", table.delimiter},
                   {"header", table.header},
                   {"columns", columns},
                   {"ignored", spelled(table.ignored)}});
  }
  return all;
}

nlohmann::json run_import(const ImportOptions& options, const Session& session) {
  std::vector<std::string> read = {options.like};
  for (const auto& option : options.import->options()) {  // text options may name files
    const auto value = option.get();
    if (value.is_string()) read.push_back(value.get<std::string>());
  }
  require_distinct_files(read, {options.out});
  lase::Schema schema;
  lase::Graph earlier;
  if (!options.like.empty()) {
    earlier = lase::load_graph(options.like);
    schema = lase::schema_of(earlier);
  }
  lase::RawGraph raw = options.import->read(options.like.empty() ? nullptr : &schema);
  const auto notes = spelled(raw.notes);
  auto warnings = spelled(raw.warnings);
  const auto tables = raw.tables;
  const auto rules = raw.rules;
  auto [graph, report] = lase::build_graph(std::move(raw));
  if (!options.like.empty()) lase::require_schema(graph, earlier);
  // If the earlier graph is reduced, the new one is projected onto the same components.
  const auto seed = uint64_t{1};
  if (options.reduce_nodes > 0 || earlier.node_reduction.present()) {
    lase::reduce_nodes(graph, {.components = options.reduce_nodes, .seed = seed},
                       earlier.node_reduction);
  }
  if (options.reduce_links > 0 || earlier.link_reduction.present()) {
    lase::reduce_links(graph, {.components = options.reduce_links, .seed = seed},
                       earlier.link_reduction);
  }
  for (const auto& leak : lase::find_leaks(graph)) {
    const std::string what =
        leak.of_links ? fmt::format("the sum of the link attribute '{}' over the links of a node",
                                    leak.column)
                      : fmt::format("the column '{}'", leak.column);
    const std::string remedy =
        leak.of_links ? "" : fmt::format(", or leave it out with --types '{}=ignore'", leak.column);
    warnings.push_back(fmt::format(
        "{} alone predicts the label of training nodes (balanced accuracy {:.3f}); make sure that "
        "it does not come from the label and is known for new nodes{}",
        what, leak.accuracy, remedy));
  }
  lase::save_graph(graph, options.out);

  auto& out = session.out();
  for (const auto& table : tables) print_table(table, out);
  out << describe_text(graph);
  if (report.merged > 0) {
    out << "merged           " << lase::grouped(report.raw_links) << " rows into "
        << lase::grouped(graph.links) << " links\n";
  }
  if (report.self_loops > 0) {
    out << "self loops       " << lase::grouped(report.self_loops)
        << (rules.self_loops == lase::SelfLoops::kDrop ? " dropped" : " kept") << "\n";
  }
  for (const auto& note : notes) out << "note             " << note << "\n";
  for (const auto& warning : warnings) std::cerr << "lase: warning: " << warning << "\n";
  out << "written          " << options.out << "\n";
  auto result = lase::describe_json(graph);
  result["raw_links"] = report.raw_links;
  result["merged"] = report.merged;
  result["self_loops"] = report.self_loops;
  result["tables"] = tables_json(tables);
  result["notes"] = notes;
  result["warnings"] = warnings;
  result["out"] = options.out;
  return result;
}

}  // namespace

void add_import(CLI::App& app, Session& session) {
  CLI::App* import = app.add_subcommand("import", command_summary("import"));
  import->require_subcommand(1);
  for (const auto& format : lase::formats()) {
    auto options = std::make_shared<ImportOptions>();
    options->import = format.make();
    CLI::App* command =
        session.add_command(*import, format.name, format.summary,
                            [options, &session] { return run_import(*options, session); });
    add_flags(*command, options->import->options());
    add_flags(*command, import_table().bind(*options));
    command->footer(examples(format.name));
  }
  import->footer(examples("contacts"));
}
