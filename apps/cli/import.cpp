#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/graph/build.h"
#include "lase/graph/describe.h"
#include "lase/graph/graph.h"
#include "lase/graph/like.h"
#include "lase/graph/pca.h"
#include "lase/ingest/format.h"

#include "cli/program.h"
#include "cli/session.h"
#include "common/paths.h"

namespace {

// Hands a format's options to CLI11.
class CliFlags : public lase::Flags {
 public:
  CliFlags(CLI::App& app, std::vector<const std::string*>& texts) : app_(app), texts_(texts) {}

  void text(const std::string& name, std::string& value, const std::string& help) override {
    app_.add_option(name, value, help);
    texts_.push_back(&value);
  }
  void required(const std::string& name, std::string& value, const std::string& help) override {
    app_.add_option(name, value, help)->required();
    texts_.push_back(&value);
  }
  void texts(const std::string& name, std::vector<std::string>& value,
             const std::string& help) override {
    app_.add_option(name, value, help)->delimiter(',')->allow_extra_args(false);
  }
  void number(const std::string& name, int64_t& value, const std::string& help) override {
    app_.add_option(name, value, help);
  }
  void optional(const std::string& name, std::optional<float>& value,
                const std::string& help) override {
    app_.add_option(name, value, help);
  }
  void flag(const std::string& name, bool& value, const std::string& help) override {
    app_.add_flag(name, value, help);
  }
  void choice(const std::string& name, const std::vector<std::string>& choices, std::string& value,
              const std::string& help) override {
    app_.add_option(name, value, help)->check(CLI::IsMember(choices));
  }

 private:
  CLI::App& app_;
  std::vector<const std::string*>& texts_;  // some of them name files
};

struct ImportOptions {
  std::unique_ptr<lase::Format> format;
  std::vector<const std::string*> texts;  // of the format's options
  std::string out;
  std::string like;
  int64_t reduce_nodes = 0;
  int64_t reduce_links = 0;
};

nlohmann::json run_import(const ImportOptions& options, const Session& session) {
  std::vector<std::string> read = {options.like};
  for (const auto* text : options.texts) read.push_back(*text);
  require_apart(read, {options.out});
  lase::Like like;
  lase::Graph earlier;
  if (!options.like.empty()) {
    earlier = lase::open_graph(options.like);
    lase::check_graph(earlier, options.like);
    like = lase::like_of(earlier);
  }
  lase::RawGraph raw = options.format->read(options.like.empty() ? nullptr : &like);
  const auto notes = raw.notes;
  const auto rules = raw.rules;
  auto [graph, report] = lase::build_graph(std::move(raw));
  if (!options.like.empty()) lase::require_like(graph, earlier);
  // A reduction that the earlier graph has is part of what the new one takes over.
  const auto seed = uint64_t{1};
  if (options.reduce_nodes > 0 || earlier.node_reduction.present()) {
    lase::reduce_nodes(graph, {.components = options.reduce_nodes, .seed = seed},
                       earlier.node_reduction);
  }
  if (options.reduce_links > 0 || earlier.link_reduction.present()) {
    lase::reduce_links(graph, {.components = options.reduce_links, .seed = seed},
                       earlier.link_reduction);
  }
  lase::save_graph(graph, options.out);

  auto& out = session.out();
  out << describe_text(graph);
  if (report.merged > 0) {
    out << "merged           " << report.raw_links << " rows into " << graph.links << " links\n";
  }
  if (report.self_loops > 0) {
    out << "self loops       " << report.self_loops
        << (rules.self_loops == lase::SelfLoops::kDrop ? " dropped" : " kept") << "\n";
  }
  for (const auto& note : notes) out << "note             " << note << "\n";
  out << "written          " << options.out << "\n";
  auto result = lase::describe_json(graph);
  result["raw_links"] = report.raw_links;
  result["merged"] = report.merged;
  result["self_loops"] = report.self_loops;
  result["notes"] = notes;
  result["out"] = options.out;
  return result;
}

}  // namespace

void add_import(CLI::App& app, Session& session) {
  CLI::App* import = app.add_subcommand("import", verb_summary("import"));
  import->require_subcommand(1);
  for (auto& format : lase::formats()) {
    auto options = std::make_shared<ImportOptions>();
    options->format = std::move(format);
    CLI::App* kind =
        session.add_verb(*import, options->format->name(), options->format->summary(),
                         [options, &session] { return run_import(*options, session); });
    CliFlags flags(*kind, options->texts);
    options->format->declare(flags);
    kind->add_option("--out", options->out, "The graph file to write")->required();
    kind->add_option("--like", options->like,
                     "An earlier graph whose attributes, classes and fitted numbers the new one "
                     "takes over, so that a model trained on it fits");
    kind->add_option("--reduce-nodes", options->reduce_nodes,
                     "Reduce node features to so many principal components (0: leave them)")
        ->check(CLI::NonNegativeNumber);
    kind->add_option("--reduce-links", options->reduce_links,
                     "Reduce link attributes to so many principal components (0: leave them)")
        ->check(CLI::NonNegativeNumber);
  }
}
