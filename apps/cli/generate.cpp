#include "lase/graph/generate.h"

#include <memory>
#include <string>

#include "lase/graph/describe.h"
#include "lase/graph/graph.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"

namespace {

nlohmann::json run_graph(const lase::PlantedOptions& options, const std::string& out,
                         const Session& session) {
  lase::generate_graph(options, out);
  const lase::Graph graph = lase::open_graph(out);
  session.out() << lase::describe_text(graph) << "written          " << out << "\n";
  return lase::describe_json(graph);
}

void add_planted(CLI::App& generate, Session& session) {
  struct Options {
    lase::PlantedOptions planted;
    std::string out;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = session.add_command(
      generate, "planted",
      "Generate a graph whose labels are encoded in node features, in link attributes, or only in "
      "their combination",
      [options, &session] { return run_graph(options->planted, options->out, session); });
  add_flags(*command, lase::planted_option_table().bind(options->planted));
  command->add_option("--out", options->out, "Graph file to write")->required();
  command->footer(
      "Examples:\n"
      "  lase generate planted --nodes 2000 --links 20000 --out planted.graph\n"
      "  lase generate planted --joint-signal 0 --link-signal 0.5 --out link-signal.graph");
}

void add_stand_in(CLI::App& generate, Session& session, const std::string& name) {
  struct Options {
    uint64_t seed = 1;
    std::string out;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = session.add_command(
      generate, name, "Generate a random graph with the size of the paper's " + name + " data",
      [options, name, &session] {
        return run_graph(lase::stand_in(name, options->seed), options->out, session);
      });
  lase::OptionTable<Options> table;
  table.add("seed", &Options::seed, lase::any(),
            "Random seed; the same seed gives the same graph on every machine");
  add_flags(*command, table.bind(*options));
  command->add_option("--out", options->out, "Graph file to write")->required();
  command->footer("Example:\n  lase generate " + name + " --out " + name + ".graph");
}

void add_mail(CLI::App& generate, Session& session) {
  struct Options {
    lase::MailOptions mail;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = session.add_command(
      generate, "mail", "Generate emails between people in departments, as CSV files to import",
      [options, &session] {
        lase::generate_mail(options->mail, options->folder);
        session.out() << options->mail.contacts << " emails in " << options->folder
                      << "/contacts.csv, " << options->mail.people << " people in "
                      << options->folder << "/people.csv\n";
        return nlohmann::json{{"contacts", options->folder + "/contacts.csv"},
                              {"nodes", options->folder + "/people.csv"}};
      });
  add_flags(*command, lase::mail_option_table().bind(options->mail));
  command->add_option("--out", options->folder, "Folder to write to")->required();
  command->footer(
      "Examples:\n"
      "  lase generate mail --out mail\n"
      "  lase generate mail --seed 2 --out new    # other people, to test a trained model on");
}

void add_payments(CLI::App& generate, Session& session) {
  struct Options {
    lase::PaymentsOptions payments;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = session.add_command(
      generate, "payments",
      "Generate payments between accounts, some of them fraudulent, as CSV files to import",
      [options, &session] {
        lase::generate_payments(options->payments, options->folder);
        session.out() << options->payments.payments * options->payments.weeks << " payments in "
                      << options->folder << "/payments.csv, " << options->payments.accounts
                      << " accounts in " << options->folder << "/accounts.csv\n";
        return nlohmann::json{{"links", options->folder + "/payments.csv"},
                              {"nodes", options->folder + "/accounts.csv"}};
      });
  add_flags(*command, lase::payments_option_table().bind(options->payments));
  command->add_option("--out", options->folder, "Folder to write to")->required();
  command->footer(
      "Examples:\n"
      "  lase generate payments --out payments\n"
      "  lase generate payments --first-week 1 --out next    # the week after");
}

}  // namespace

void add_generate(CLI::App& app, Session& session) {
  CLI::App* generate = app.add_subcommand("generate", command_summary("generate"));
  generate->require_subcommand(1);
  add_mail(*generate, session);
  add_payments(*generate, session);
  add_planted(*generate, session);
  for (const char* name : {"reddit", "dblp", "email", "fmobile"}) {
    add_stand_in(*generate, session, name);
  }
  generate->footer(
      "Examples:\n"
      "  lase generate mail --out mail\n"
      "  lase generate payments --out payments\n"
      "  lase generate planted --nodes 2000 --links 20000 --out planted.graph");
}
