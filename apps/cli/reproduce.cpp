#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "cli/program.h"
#include "cli/run_progress.h"
#include "cli/session.h"
#include "common/interrupt.h"
#include "common/timing.h"
#include "experiments/experiments.h"

namespace {

nlohmann::json run_reproduce(const std::string& what, lase::ReproduceOptions options,
                             const Session& session) {
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
  struct Options {
    std::string what;
    lase::ReproduceOptions reproduce;
  };
  auto options = std::make_shared<Options>();
  options->reproduce.data = "../shared/data";
  options->reproduce.out = "reproduced";
  CLI::App* command = session.add_command(
      app, "reproduce", command_summary("reproduce"),
      [options, &session] { return run_reproduce(options->what, options->reproduce, session); });
  auto names = lase::experiment_names();
  names.emplace_back("all");
  command->add_option("what", options->what, "Experiment to run, or all")
      ->required()
      ->check(CLI::IsMember(names));
  command->add_option(
      "--data", options->reproduce.data,
      "Folder with the real data; missing data sets are replaced by generated ones");
  command->add_option("--out", options->reproduce.out,
                      "Folder for the results; runs that it already contains are reused");
  command
      ->add_option("--seeds", options->reproduce.seeds,
                   "Number of seeds per configuration (0 = chosen per data set)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--epochs", options->reproduce.epochs,
                   "Maximum number of epochs per run (0 = chosen per data set)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--data-sets", options->reproduce.data_sets, "Data sets to use (default: all)")
      ->delimiter(',')
      ->type_name("A,B,C");
  command->add_flag("--quick", options->reproduce.quick,
                    "Run few seeds and epochs without search, to check that everything works");
  command->footer(
      "Examples:\n"
      "  lase reproduce all --quick\n"
      "  lase reproduce table3 --seeds 5 --out reproduced");
}
