#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "lase/base/error.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/run_progress.h"
#include "cli/session.h"
#include "common/interrupt.h"
#include "common/timing.h"
#include "experiments/experiments.h"

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

nlohmann::json run_reproduce(const std::string& what, lase::ReproduceOptions options,
                             const Session& session) {
  const auto& known = lase::experiment_data_names();
  for (const auto& name : options.data_sets) {
    lase::require_option(std::find(known.begin(), known.end(), name) != known.end(), "--data-sets ",
                         lase::quote(name), ": must be one or more of ", listed(known));
  }
  const auto start = Clock::now();
  RunLine line;
  options.say = [&](const std::string& text) {
    line.clear();
    std::cerr << text << "\n";
  };
  options.progress = [&](const lase::RunProgress& progress) { line.show(progress); };
  const Interruptible interruptible;
  options.stop = &interrupted();
  const auto names = what == "all" ? lase::experiment_names() : std::vector<std::string>{what};
  const auto documents = lase::reproduce(names, options);
  line.clear();
  nlohmann::json result = {{"out", options.out}, {"seconds", seconds_since(start)}};
  for (const auto& document : documents) {
    session.out() << "\n" << document.markdown();
    auto rows = nlohmann::json::array();
    for (const auto& row : document.values.rows) {
      nlohmann::json object;
      for (size_t i = 0; i < row.size(); ++i) object[document.values.columns[i]] = row[i];
      rows.push_back(object);
    }
    result[document.name] = rows.size() <= 200 ? rows : nlohmann::json(document.name + ".csv");
  }
  session.out() << "\nwritten          " << options.out << "/index.html, and .md, .csv and .svg "
                << "files per experiment, in " << static_cast<int64_t>(seconds_since(start))
                << " s\n";
  return result;
}

}  // namespace

void add_reproduce(CLI::App& app, Session& session) {
  struct Options : lase::ReproduceOptions {
    std::string what;
  };
  auto names = lase::experiment_names();
  names.emplace_back("all");
  lase::OptionTable<Options> table;
  table.add("what", &Options::what, lase::one_of(names), "Experiment to run, or all")
      .required()
      .positional();
  table.add(
      "data", &Options::data, lase::any(),
      "Folder with the real data: papers/papers.tsv.gz, email/contacts.txt.gz, "
      "email/nodes.csv, email/official/email_Eu-node-feats.npy, workplace/contacts.dat.gz, "
      "workplace/departments.txt; links.csv.gz and nodes.csv.gz in icews14, amlsim20k, hgb/acm, "
      "hgb/dblp and hgb/imdb, with features.csv.gz in those of hgb; data sets that are missing "
      "are replaced by synthetic stand-ins or skipped");
  table.add("out", &Options::out, lase::any(),
            "Folder for the results; runs that it already contains are reused");
  table.add("seeds", &Options::seeds, lase::between(0, 100'000),
            "Number of seeds per configuration (0 = chosen per data set)");
  table.add("epochs", &Options::epochs, lase::at_least(0),
            "Maximum number of epochs per run (0 = chosen per data set)");
  table.add("data_sets", &Options::data_sets, lase::any(),
            "Data sets to use: " + listed(lase::experiment_data_names()) + " (default: all)");
  table.add("quick", &Options::quick, lase::any(),
            "Run few seeds and epochs without search, to check that everything works");
  auto options = std::make_shared<Options>();
  CLI::App* command = session.add_command(
      app, "reproduce", command_summary("reproduce"),
      [options, &session] { return run_reproduce(options->what, *options, session); });
  add_flags(*command, table.bind(*options));
  command->footer(
      "Examples:\n"
      "  lase reproduce all --quick\n"
      "  lase reproduce table3 --seeds 5 --out reproduced");
}
