#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/graph/describe.h"
#include "lase/graph/graph.h"
#include "lase/ingest/import_graph.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/paths.h"

namespace {

struct ImportFlags {
  std::unique_ptr<lase::Import> import;
  lase::ImportOptions options;
  std::string out;
};

const lase::OptionTable<ImportFlags>& import_table() {
  static const auto table = [] {
    using O = ImportFlags;
    lase::OptionTable<O> all;
    all.add("out", &O::out, lase::any(), "Graph file to write").required();
    all.include(lase::import_option_table(), &O::options);
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

nlohmann::json run_import(const ImportFlags& flags, const Session& session) {
  std::vector<std::string> read = {flags.options.like};
  for (const auto& option : flags.import->options()) {  // text options may name files
    const auto value = option.get();
    if (value.is_string()) read.push_back(value.get<std::string>());
  }
  require_distinct_files(read, {flags.out});
  const lase::ImportedGraph imported = lase::import_graph(*flags.import, flags.options);
  const auto& [graph, report, rules, tables, raw_notes, raw_warnings] = imported;
  const auto notes = spelled(raw_notes);
  const auto warnings = spelled(raw_warnings);
  lase::save_graph(graph, flags.out);

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
  out << "written          " << flags.out << "\n";
  auto result = lase::describe_json(graph);
  result["raw_links"] = report.raw_links;
  result["merged"] = report.merged;
  result["self_loops"] = report.self_loops;
  result["tables"] = tables_json(tables);
  result["notes"] = notes;
  result["warnings"] = warnings;
  result["out"] = flags.out;
  return result;
}

}  // namespace

void add_import(CLI::App& app, Session& session) {
  CLI::App* import = app.add_subcommand("import", command_summary("import"));
  import->require_subcommand(1);
  for (const auto& format : lase::formats()) {
    auto flags = std::make_shared<ImportFlags>();
    flags->import = format.make();
    CLI::App* command =
        session.add_command(*import, format.name, format.summary,
                            [flags, &session] { return run_import(*flags, session); });
    add_flags(*command, flags->import->options());
    add_flags(*command, import_table().bind(*flags));
    command->footer(examples(format.name));
  }
  import->footer(examples("contacts"));
}
