#include "experiments/compare.h"

#include <filesystem>
#include <memory>
#include <string>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/graph/graph.h"
#include "lase/train/options.h"

#include "cli/model_and_graph.h"
#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/run_progress.h"
#include "cli/session.h"
#include "common/interrupt.h"
#include "common/sha256.h"

namespace {

struct CompareFlags : lase::CompareOptions {
  std::string graph;
  std::string out;
};

const lase::OptionTable<CompareFlags>& compare_table() {
  static const auto table = [] {
    using O = CompareFlags;
    lase::OptionTable<O> all;
    all.add("models", &O::models, lase::any(), "Models to compare; differences are to the first");
    all.add("splits", &O::splits, lase::between(0, 1000),
            "Number of random splits, stratified by label (0 = the split of the graph)");
    all.add("split", &O::split, lase::any(),
            "Percentages of training, validation and test nodes in random splits, such as 60/20/20 "
            "(default: those of the graph's split)");
    all.add("keep_test", &O::keep_test, lase::any(),
            "Keep the test nodes of the graph, and redraw only training and validation nodes (20 % "
            "for validation if the graph has no validation nodes)");
    all.add("seeds", &O::seeds, lase::between(1, 1000),
            "Number of training runs per model and split, with consecutive seeds from --seed");
    return all;
  }();
  return table;
}

void write_files(const lase::Document& document, const std::string& folder) {
  const std::string base = folder + "/" + document.name;
  lase::write_file(base + ".md", document.markdown());
  lase::write_file(base + ".csv", document.values.csv());
  lase::write_file(base + ".svg", document.svg);
}

nlohmann::json run_compare(const CompareFlags& flags, const Session& session) {
  const lase::Graph graph = lase::load_graph(flags.graph);
  require_targets(graph, flags.train.predicts, flags.graph);
  const bool keep = !flags.out.empty();
  // Kept runs are reused only for exactly the same graph.
  const std::string identity = keep ? lase::sha256_of_file(flags.graph) : "";
  RunLine line;
  const Interruptible interruptible;
  const auto comparison =
      lase::compare(graph, identity, flags,
                    {.folder = keep ? flags.out + "/runs" : "",
                     .threads = 0,
                     .progress = [&](const auto& progress) { line.show(progress); },
                     .stop = &interrupted()});
  line.clear();
  const auto document = comparison.document(std::filesystem::path(flags.graph).filename().string());
  auto& out = session.out();
  out << document.text << "\n\n" << document.table.text();
  if (!document.notes.empty()) out << "\n" << document.notes << "\n";
  if (keep) {
    write_files(document, flags.out);
    out << "\nwritten          " << flags.out << "/compare.md, compare.csv and compare.svg\n";
  }
  return comparison.json();
}

}  // namespace

void add_compare(CLI::App& app, Session& session) {
  auto flags = std::make_shared<CompareFlags>();
  CLI::App* command =
      session.add_command(app, "compare", command_summary("compare"),
                          [flags, &session] { return run_compare(*flags, session); });
  command->add_option("graph", flags->graph, "Graph file")->required();
  add_flags(*command, compare_table().bind(*flags));
  command
      ->add_option("--variant", flags->variants,
                   "Model with other options, such as 'lase: gate=none project=64'; may be "
                   "repeated")
      ->allow_extra_args(false)
      ->default_str("");
  command->add_option("--out", flags->out,
                      "Folder for the results: compare.md, compare.csv (one row per run), "
                      "compare.svg, and the finished runs, so that an interrupted comparison can "
                      "continue");
  add_flags(*command, without(lase::train_option_table().bind(flags->train), {"model"}));
  command->footer(
      "Examples:\n"
      "  lase compare mail.graph --seeds 5\n"
      "  lase compare mail.graph --splits 5 --split 60/20/20 --variant 'lase: gate=none' --out "
      "compared");
}
