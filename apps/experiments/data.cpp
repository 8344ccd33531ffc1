#include "experiments/data.h"

#include <algorithm>
#include <filesystem>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/embed/features.h"
#include "lase/graph/build.h"
#include "lase/graph/generate.h"
#include "lase/graph/pca.h"
#include "lase/ingest/format.h"

#include "common/sha256.h"

namespace lase {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;
using Options = std::vector<std::pair<std::string, json>>;

// `lase import FORMAT OPTIONS`; values that start with @ are files in the data folder.
struct Recipe {
  std::string title;
  std::string format;
  Options options;
  int64_t reduce_nodes = 0;
  int64_t reduce_links = 0;
  bool line = false;     // node features from LINE on all links, as in the paper
  std::string stand_in;  // generated if the files are missing; empty: none
  std::string like_nodes = {};
  bool transductive = false;
};

Options with(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

Options papers(const Options& more = {}) {
  return with({{"file", "@papers/papers.tsv.gz"},
               {"members", "authors"},
               {"label", "venue"},
               {"split", "65/15/20"},
               {"text", "title"},
               {"fold_case", true}},
              more);
}

Options mails(const Options& more = {}) {
  return with({{"file", "@email/contacts.txt.gz"},
               {"nodes", "@email/nodes.csv"},
               {"label", "department"},
               {"split", "split"},
               {"slices", 64},
               {"separate_directions", true}},
              more);
}

Options contacts_at_work() {
  return {{"file", "@workplace/contacts.dat.gz"},
          {"time", "1"},
          {"nodes", "@workplace/departments.txt"},
          {"label", "2"},
          {"split", "65/15/20"}};
}

// Typed links and nodes with words, from the Heterogeneous Graph Benchmark.
Options benchmark(const std::string& folder, const std::string& label) {
  return {{"file", "@hgb/" + folder + "/links.csv.gz"},
          {"nodes", "@hgb/" + folder + "/nodes.csv.gz"},
          {label, "label"},
          {"split", "split"},
          {"validation", 20},
          {"node_columns", json::array({"type"})},
          {"features", "@hgb/" + folder + "/features.csv.gz"},
          {"separate_directions", true}};
}

const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> all = {
      {"reddit", {.title = "reddit", .format = "", .options = {}, .stand_in = "reddit"}},
      {"fmobile", {.title = "fmobile", .format = "", .options = {}, .stand_in = "fmobile"}},
      {"dblp",
       {.title = "dblp",
        .format = "sets",
        .options = papers(),
        .reduce_nodes = 200,
        .reduce_links = 200,
        .stand_in = "dblp"}},
      {"dblp-authors",
       {.title = "dblp, unreduced authors",
        .format = "sets",
        .options = papers(),
        .reduce_nodes = 200,
        .stand_in = "",
        .like_nodes = "dblp"}},
      {"dblp-counts",
       {.title = "dblp, author counts",
        .format = "sets",
        .options = papers({{"attributes", "counts"}}),
        .reduce_nodes = 200,
        .stand_in = "",
        .like_nodes = "dblp"}},
      {"email",
       {.title = "email",
        .format = "contacts",
        .options = mails({{"features", "@email/official/email_Eu-node-feats.npy"}}),
        .stand_in = "email"}},
      {"email-line",
       {.title = "email, LINE features from lase",
        .format = "contacts",
        .options = mails(),
        .line = true,
        .stand_in = ""}},
      {"workplace",
       {.title = "workplace",
        .format = "contacts",
        .options = with(contacts_at_work(), {{"slices", 64}}),
        .line = true,
        .stand_in = ""}},
      {"email-bare",
       {.title = "email, no node features",
        .format = "contacts",
        .options = mails(),
        .stand_in = ""}},
      {"workplace-bare",
       {.title = "workplace, no node features",
        .format = "contacts",
        .options = contacts_at_work(),
        .stand_in = "",
        .transductive = true}},
      {"icews14",
       {.title = "icews14",
        .format = "typed",
        .options = {{"file", "@icews14/links.csv.gz"},
                    {"nodes", "@icews14/nodes.csv.gz"},
                    {"label", "label"},
                    {"split", "50/10/40"},
                    {"node_columns", json::array({"none"})},
                    {"separate_directions", true}},
        .stand_in = "",
        .transductive = true}},
      {"amlsim20k",
       {.title = "amlsim20k",
        .format = "links",
        .options = {{"file", "@amlsim20k/links.csv.gz"},
                    {"nodes", "@amlsim20k/nodes.csv.gz"},
                    {"label", "label"},
                    {"split", "50/10/40"},
                    {"time", "time"},
                    {"slices", 8},
                    {"separate_directions", true}},
        .stand_in = ""}},
      {"acm",
       {.title = "HGB ACM",
        .format = "typed",
        .options = benchmark("acm", "label"),
        .stand_in = "",
        .transductive = true}},
      {"dblp-hgb",
       {.title = "HGB DBLP",
        .format = "typed",
        .options = benchmark("dblp", "label"),
        .stand_in = "",
        .transductive = true}},
      {"imdb",
       {.title = "HGB IMDB",
        .format = "typed",
        .options = benchmark("imdb", "multi_label"),
        .stand_in = "",
        .transductive = true}},
  };
  return all;
}

bool is_file(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with("@");
}
std::string file_of(const json& value) { return value.get<std::string>().substr(1); }

std::string described(const Recipe& recipe, bool stand_in) {
  if (stand_in) return join("lase generate ", recipe.stand_in);
  std::string text = "lase import " + recipe.format;
  for (const auto& [name, value] : recipe.options) {
    std::string flag = join(" --", name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (name != "file") text += flag;
    if (value.is_boolean()) continue;
    text.append(" ").append(is_file(value) ? file_of(value) : option_text(value));
  }
  if (recipe.reduce_nodes > 0) text += join(" --node-pca ", recipe.reduce_nodes);
  if (recipe.reduce_links > 0) text += join(" --link-pca ", recipe.reduce_links);
  if (recipe.line) text += ", then lase line";
  return text;
}

Graph made(const Recipe& recipe, const std::string& data) {
  const auto import = format_named(recipe.format).make();
  const BoundOptions options = import->options();
  for (const auto& [name, value] : recipe.options) {
    const auto option =
        std::find_if(options.begin(), options.end(),
                     [&, wanted = name](auto& each) { return each.info.name == wanted; });
    require(option != options.end(), "unknown option ", quote(name));
    option->set(is_file(value) ? json(data + "/" + file_of(value)) : value);
  }
  Graph graph = build_graph(import->read(nullptr)).graph;
  if (recipe.reduce_nodes > 0) reduce_nodes(graph, {.components = recipe.reduce_nodes});
  if (recipe.reduce_links > 0) reduce_links(graph, {.components = recipe.reduce_links});
  if (recipe.line) add_features(learn_features(graph, {}, {}), graph);
  return graph;
}

}  // namespace

const Strings& experiment_data_names() {
  static const Strings names = [] {
    Strings all = {"reddit", "dblp",       "dblp-authors", "dblp-counts",
                   "email",  "email-line", "fmobile",      "workplace"};
    all.insert(all.end(), link_data_names().begin(), link_data_names().end());
    return all;
  }();
  return names;
}

const Strings& link_data_names() {
  static const Strings names = {"email-bare", "workplace-bare", "icews14", "amlsim20k",
                                "acm",        "dblp-hgb",       "imdb"};
  return names;
}

std::optional<ExperimentData> open_experiment_data(const std::string& name, const std::string& data,
                                                   const std::string& cache) {
  const auto found = recipes().find(name);
  require(found != recipes().end(), "unknown data set ", quote(name));
  const Recipe& recipe = found->second;
  const bool there =
      !recipe.options.empty() &&
      std::all_of(recipe.options.begin(), recipe.options.end(), [&](const auto& option) {
        return !is_file(option.second) ||
               std::filesystem::exists(data + "/" + file_of(option.second));
      });
  if (!there && recipe.stand_in.empty()) return std::nullopt;
  ExperimentData set;
  set.name = name;
  set.title = recipe.title;
  set.stand_in = !there;
  set.recipe = described(recipe, !there);
  set.like_nodes = recipe.like_nodes;
  set.transductive = recipe.transductive;
  set.tag = name + "-" + sha256_of(set.recipe).substr(0, 8);
  make_folder(cache);
  const std::string path = cache + "/" + set.tag + ".graph";
  const auto make = [&] {
    if (there) {
      save_graph(made(recipe, data), path);
    } else {
      generate_graph(stand_in(recipe.stand_in, 1), path);
    }
  };
  const auto open = [&] { set.graph = load_graph(path); };
  if (!std::filesystem::exists(path)) make();
  try {
    open();
  } catch (const Error&) {  // the cached file is damaged or outdated
    make();
    open();
  }
  return set;
}

std::optional<PaperSizes> paper_sizes(const std::string& name) {
  static const std::map<std::string, PaperSizes> sizes = {{"reddit", {61836, 1222411, 19.77, 8}},
                                                          {"dblp", {14389, 111858, 7.77, 8}},
                                                          {"email", {986, 16064, 16.29, 42}},
                                                          {"fmobile", {21102, 55009, 2.61, 33}}};
  const auto found = sizes.find(name);
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> paper_score(const std::string& name, const std::string& model) {
  using PaperScores = std::map<std::string, double>;
  static const std::map<std::string, PaperScores> scores = {{"reddit",
                                                             {{"line-online", 0.1802},
                                                              {"deepwalk-online", 0.1714},
                                                              {"gcn", 0.8172},
                                                              {"graphsage", 0.8468},
                                                              {"concat", 0.8438},
                                                              {"rw", 0.8460},
                                                              {"sage", 0.8633},
                                                              {"raw", 0.7923}}},
                                                            {"dblp",
                                                             {{"line-online", 0.2989},
                                                              {"deepwalk-online", 0.3306},
                                                              {"gcn", 0.5033},
                                                              {"graphsage", 0.5798},
                                                              {"concat", 0.5805},
                                                              {"rw", 0.5433},
                                                              {"sage", 0.5881},
                                                              {"raw", 0.4532}}},
                                                            {"email",
                                                             {{"line-online", 0.3604},
                                                              {"deepwalk-online", 0.3249},
                                                              {"gcn", 0.6396},
                                                              {"graphsage", 0.6548},
                                                              {"concat", 0.7005},
                                                              {"rw", 0.7208},
                                                              {"sage", 0.7310},
                                                              {"line", 0.6904}}},
                                                            {"fmobile",
                                                             {{"line-online", 0.3047},
                                                              {"deepwalk-online", 0.4071},
                                                              {"gcn", 0.3908},
                                                              {"graphsage", 0.5334},
                                                              {"concat", 0.5380},
                                                              {"rw", 0.5441},
                                                              {"sage", 0.5649},
                                                              {"line", 0.4749}}}};
  const auto of_data = scores.find(name);
  if (of_data == scores.end()) return std::nullopt;
  const auto found = of_data->second.find(model);
  return found == of_data->second.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace lase
