#include "lase/graph/generate.h"

#include <map>
#include <memory>
#include <string>

#include "lase/graph/describe.h"
#include "lase/graph/graph.h"

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
    std::string layout = "coded";
    std::string out;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = session.add_verb(
      generate, "planted", "A graph whose labels show in nodes, links, or only in both together",
      [options, &session] {
        const std::map<std::string, lase::Layout> layouts = {{"dense", lase::Layout::kDense},
                                                             {"sparse", lase::Layout::kSparse},
                                                             {"coded", lase::Layout::kCoded}};
        options->planted.layout = layouts.at(options->layout);
        return run_graph(options->planted, options->out, session);
      });
  auto& planted = options->planted;
  verb->add_option("--nodes", planted.nodes, "Nodes");
  verb->add_option("--links", planted.links, "Links");
  verb->add_option("--labels", planted.labels, "Classes, of equal size");
  verb->add_option("--node-dim", planted.node_dim, "Node features");
  verb->add_option("--link-dim", planted.link_dim, "Link attributes");
  verb->add_option("--node-signal", planted.node_signal,
                   "0 to 1: how much the label shows in the features of the node itself");
  verb->add_option("--link-signal", planted.link_signal,
                   "0 to 1: how often a link between nodes of one label shows it");
  verb->add_option("--joint-signal", planted.joint_signal,
                   "0 to 1: share of the links that show the label only together with the features "
                   "of the neighbour");
  verb->add_option("--homophily", planted.homophily,
                   "0 to 1: how often the other links join nodes of one label");
  verb->add_option("--noise", planted.noise, "Of features and dense attributes");
  verb->add_option("--layout", options->layout, "Of link attributes")
      ->check(CLI::IsMember({"coded", "dense", "sparse"}));
  verb->add_option("--split", planted.split, "Shares of train, val and test nodes");
  verb->add_option("--seed", planted.seed, "Same seed, same graph, on every machine");
  verb->add_option("--out", options->out, "The graph file to write")->required();
}

void add_stand_in(CLI::App& generate, Session& session, const std::string& name) {
  struct Options {
    uint64_t seed = 1;
    std::string out;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = session.add_verb(
      generate, name, "A stand-in of the size of the paper's " + name, [options, name, &session] {
        return run_graph(lase::stand_in(name, options->seed), options->out, session);
      });
  verb->add_option("--seed", options->seed, "Same seed, same graph, on every machine");
  verb->add_option("--out", options->out, "The graph file to write")->required();
}

void add_mail(CLI::App& generate, Session& session) {
  struct Options {
    lase::MailOptions mail;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = session.add_verb(
      generate, "mail", "E-mails between people in departments, as csv files to import",
      [options, &session] {
        lase::generate_mail(options->mail, options->folder);
        session.out() << options->mail.contacts << " e-mails in " << options->folder
                      << "/contacts.csv, " << options->mail.people << " people in "
                      << options->folder << "/people.csv\n";
        return nlohmann::json{{"contacts", options->folder + "/contacts.csv"},
                              {"nodes", options->folder + "/people.csv"}};
      });
  verb->add_option("--people", options->mail.people, "People, in eight departments");
  verb->add_option("--contacts", options->mail.contacts, "E-mails, within a year");
  verb->add_option("--seed", options->mail.seed, "Same seed, same files, on every machine");
  verb->add_option("--out", options->folder, "The folder to write into")->required();
}

}  // namespace

void add_generate(CLI::App& app, Session& session) {
  CLI::App* generate = app.add_subcommand("generate", verb_summary("generate"));
  generate->require_subcommand(1);
  add_mail(*generate, session);
  add_planted(*generate, session);
  for (const char* name : {"reddit", "dblp", "email", "fmobile"}) {
    add_stand_in(*generate, session, name);
  }
}
