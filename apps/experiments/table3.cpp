#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/model/layers/registry.h"
#include "lase/train/protocol.h"

#include "experiments/experiments.h"
#include "experiments/search.h"
#include "experiments/statistics.h"
#include "report/chart.h"
#include "report/run_page.h"

namespace lase {
namespace {

using nlohmann::json;

// A row of the table: a lase model, or a classifier on node embeddings.
struct Method {
  std::string name;  // as in paper_score
  std::string title;
  std::string model = "raw";  // name in the layer registry
  std::optional<EmbedMethod> embedding = {};
  bool online = false;

  bool reads_links() const { return layer_type(model).reads_links; }
};

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
      {"line-online", "LINE (online)", "raw", EmbedMethod::kLine, true},
      {"deepwalk-online", "DeepWalk (online)", "raw", EmbedMethod::kDeepWalk, true},
      {"gcn", "GCN", "gcn"},
      {"graphsage", "GraphSAGE", "graphsage"},
      {"concat", "LASE-concat", "concat"},
      {"rw", "LASE-RW", "rw"},
      {"wl", "LASE-WL", "wl"},
      {"sage", "LASE-SAGE", "sage"},
      {"raw", "raw features", "raw"},
      {"line", "LINE (transductive)", "raw", EmbedMethod::kLine, false},
      {"deepwalk", "DeepWalk (transductive)", "raw", EmbedMethod::kDeepWalk, false}};
  return all;
}

struct Cell {
  const ExperimentData* data = nullptr;
  const Method* method = nullptr;
  std::vector<json> configurations = {};  // candidates
  json configuration = json::object();    // chosen on validation nodes
  MeanAndError val = {};
  MeanAndError test = {};
};

// Candidates for an embedding: its order, and whether links are weighted by their attributes, which
// makes sense only for contact counts.
std::vector<json> embedding_setups(const Cell& cell, int64_t trials) {
  const std::string& name = cell.data->name;
  const bool contacts = name.starts_with("email") || name == "workplace";
  std::vector<json> configurations = {json::object()};
  const auto add = [&](const json& configuration) {
    if (std::ssize(configurations) < trials) configurations.push_back(configuration);
  };
  const bool line = *cell.method->embedding == EmbedMethod::kLine;
  if (line) add({{"order", "both"}});
  if (contacts && !cell.data->stand_in) {
    add({{"weighted", true}});
    if (line) add({{"order", "both"}, {"weighted", true}});
  }
  return configurations;
}

Run embedding_run(const Lab& lab, const Cell& cell, const json& configuration, uint64_t seed) {
  EmbedOptions embed = embed_option_table().from_json(configuration);
  embed.method = *cell.method->embedding;
  embed.seed = seed;
  if (lab.quick() && cell.data->graph.arc_count() > 100'000) {
    embed.epochs = 10;
    embed.walks = 1;
  }
  const bool online = cell.method->online;
  const json what = {{"embed", to_json(embed)}, {"online", online}};
  // Softmax regression on fixed features is cheap, so it always gets the default number of epochs.
  TrainOptions options = options_for("raw", {}, seed);
  const Graph* graph = &cell.data->graph;
  Run run = lab.run(*cell.data, options, what, cell.method->title + " on " + cell.data->title,
                    [graph, embed, online](const TrainOptions& watched) {
                      EmbedOptions stoppable = embed;
                      stoppable.stop = watched.stop;
                      Graph embedded = *graph;
                      embedded.nodes.features = {};
                      embedded.nodes.feature_names = {};
                      embedded.node_reduction = {};
                      const auto learned = learn_features(*graph, training_nodes(*graph),
                                                          {.embed = stoppable, .online = online});
                      add_features(learned, embedded);
                      return train(embedded, watched);
                    });
  run.cost = static_cast<double>(graph->arc_count()) / 2e4;
  return run;
}

Run cell_run(const Lab& lab, const Cell& cell, const json& configuration, uint64_t seed) {
  if (cell.method->embedding) return embedding_run(lab, cell, configuration, seed);
  const Effort effort = lab.effort(cell.data->name);
  const TrainOptions options =
      train_option_table().from_json(configuration, options_for(cell.method->model, effort, seed));
  return lab.train_run(*cell.data, options, cell.method->title + " on " + cell.data->title);
}

// Chooses the configuration with the best validation score; the final runs use other seeds.
void choose_setups(const Lab& lab, std::vector<Cell>& cells) {
  constexpr uint64_t kSearchSeed = 1001;
  std::vector<Run> runs;
  for (const Cell& cell : cells) {
    if (cell.configurations.size() < 2) continue;
    for (const auto& configuration : cell.configurations)
      runs.push_back(cell_run(lab, cell, configuration, kSearchSeed));
  }
  if (runs.empty()) return;
  lab.say("searching configurations on validation nodes");
  const auto results = lab.run_all(std::move(runs));
  size_t at = 0;
  for (Cell& cell : cells) {
    if (cell.configurations.size() < 2) continue;
    double best = -1;
    for (const auto& configuration : cell.configurations) {
      const auto val = results[at++].at("val").get<double>();
      if (val <= best) continue;
      best = val;
      cell.configuration = configuration;
    }
  }
}

void measure(const Lab& lab, std::vector<Cell>& cells) {
  std::vector<Run> runs;
  for (const Cell& cell : cells) {
    const int64_t seeds = lab.effort(cell.data->name).seeds;
    for (int64_t seed = 1; seed <= seeds; ++seed) {
      runs.push_back(cell_run(lab, cell, cell.configuration, static_cast<uint64_t>(seed)));
    }
  }
  lab.say("measuring scores over seeds");
  const auto results = lab.run_all(std::move(runs));
  size_t at = 0;
  for (Cell& cell : cells) {
    std::vector<double> val;
    std::vector<double> test;
    for (int64_t seed = 1; seed <= lab.effort(cell.data->name).seeds; ++seed, ++at) {
      val.push_back(results[at].at("val").get<double>());
      test.push_back(results[at].at("test").get<double>());
    }
    cell.val = mean_and_error(val);
    cell.test = mean_and_error(test);
  }
}

const Cell* find(const std::vector<Cell>& cells, const std::string& data, const Method& method) {
  for (const Cell& cell : cells) {
    if (cell.data->name == data && cell.method == &method) return &cell;
  }
  return nullptr;
}

// The cell of a data set, or of the one with the same nodes if the method ignores link attributes.
const Cell* found_for(const std::vector<Cell>& cells, const ExperimentData& data,
                      const Method& method) {
  const Cell* own = find(cells, data.name, method);
  return own != nullptr || data.like_nodes.empty() ? own : find(cells, data.like_nodes, method);
}

std::string against(const Cell& a, const Cell& b) {
  const double difference = a.test.mean - b.test.mean;
  const double error = std::hypot(a.test.error, b.test.error);
  std::string text = a.method->title + " − " + b.method->title + " on " + a.data->marked_title() +
                     ": " + signed_fixed(difference, 4);
  if (error > 0) text += " (" + fixed(std::abs(difference) / error, 1) + " standard errors)";
  return text;
}

std::string comparisons(const std::vector<Cell>& cells,
                        const std::vector<const ExperimentData*>& sets) {
  const auto method = [](const std::string& name) -> const Method& {
    return *std::find_if(methods().begin(), methods().end(),
                         [&](const auto& m) { return m.name == name; });
  };
  std::string text;
  for (const auto* data : sets) {
    for (const auto& [a, b] :
         {std::pair("sage", "graphsage"), {"sage", "raw"}, {"graphsage", "raw"}}) {
      const Cell* first = found_for(cells, *data, method(a));
      const Cell* second = found_for(cells, *data, method(b));
      if (first == nullptr || second == nullptr || first->data != data) continue;
      text += against(*first, *second) + "\n\n";
    }
  }
  return text;
}

DotPlot plot(const std::vector<Cell>& cells, const std::vector<const ExperimentData*>& sets) {
  DotPlot dots{.x_label = "test micro-F1"};
  for (const auto& method : methods()) {
    dots.rows.push_back({.name = method.title, .apart = method.name == "raw"});
  }
  for (const auto* data : sets) {
    DotPanel panel{.title = data->marked_title()};
    for (const auto& method : methods()) {
      Score score;
      if (const Cell* cell = found_for(cells, *data, method)) {
        score.value = cell->test.mean;
        if (cell->test.count > 1) score.error = cell->test.error;
      }
      if (const auto paper = paper_score(data->name, method.name)) score.paper = *paper;
      panel.scores.push_back(score);
    }
    dots.panels.push_back(panel);
  }
  return dots;
}

void fill_tables(Document& document, const std::vector<Cell>& cells,
                 const std::vector<const ExperimentData*>& sets) {
  document.table.columns = {"model"};
  for (const auto* data : sets) document.table.columns.push_back(data->marked_title());
  for (const auto& method : methods()) {
    std::vector<std::string> row = {method.title};
    for (const auto* data : sets) {
      const Cell* cell = found_for(cells, *data, method);
      std::string text = "–";
      if (cell != nullptr) {
        text = score_text(cell->test.mean, cell->test.error);
        if (cell->data != data) text = "same as " + cell->data->title;
      }
      if (const auto paper = paper_score(data->name, method.name)) {
        text += " (" + fixed(*paper, 3) + ")";
      }
      row.push_back(text);
    }
    document.table.rows.push_back(row);
  }
  document.values.columns = {"data", "stand_in",   "model", "seeds",  "val",          "val_error",
                             "test", "test_error", "paper", "trials", "configuration"};
  for (const Cell& cell : cells) {
    const auto paper = paper_score(cell.data->name, cell.method->name);
    document.values.rows.push_back(
        {cell.data->name, cell.data->stand_in ? "1" : "0", cell.method->name,
         std::to_string(cell.test.count), fixed(cell.val.mean, 5), fixed(cell.val.error, 5),
         fixed(cell.test.mean, 5), fixed(cell.test.error, 5), paper ? fixed(*paper, 4) : "",
         std::to_string(cell.configurations.size()), configuration_text(cell.configuration)});
  }
}

// Writes the report page of one LASE-SAGE run and returns its name, or "" if there is no such cell.
std::string write_page(const Lab& lab, const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    if (cell.data->name != "email" || cell.method->name != "sage") continue;
    lab.say("writing the report page of one run");
    TrainOptions options = train_option_table().from_json(
        cell.configuration, options_for("sage", lab.effort(cell.data->name), 1));
    options.stop = lab.stop();
    RunPageOptions page{.title = cell.data->marked_title(), .command = cell.data->recipe};
    page.settings = to_json(options);
    page.stop = lab.stop();
    options.progress = [&](const EpochReport& report) {
      page.curve.push_back({.epoch = report.epoch,
                            .loss = report.loss,
                            .val = report.val.micro_f1,
                            .validated = report.validated});
    };
    const TrainResult result = train(cell.data->graph, options);
    const auto data = run_page_data(cell.data->graph, result, page);
    if (lab.stop() != nullptr && lab.stop()->load()) throw stopped_runs(true);
    lab.write("email.html", run_page(data));
    return "email.html";
  }
  return "";
}

}  // namespace

Document table3(Lab& lab) {
  std::vector<const ExperimentData*> sets;
  for (const auto& name : experiment_data_names()) {
    if (const auto* data = lab.data(name)) sets.push_back(data);
  }
  std::vector<Cell> cells;
  for (const auto* data : sets) {
    for (const auto& method : methods()) {
      // Methods that ignore link attributes have the same score on data sets that differ only in
      // these, and embeddings ignore node features.
      if (!method.reads_links() && !data->like_nodes.empty()) continue;
      if (method.embedding && data->name == "email-line") continue;
      Cell cell{.data = data, .method = &method};
      const int64_t trials = lab.effort(data->name).trials;
      cell.configurations = method.embedding
                                ? embedding_setups(cell, trials)
                                : sample_configurations(default_choices(method.model), trials, 1);
      cells.push_back(std::move(cell));
    }
  }
  choose_setups(lab, cells);
  measure(lab, cells);
  Document document{.name = "table3",
                    .title = "Table 3: micro-F1 on test nodes",
                    .text =
                        "Mean ± standard error over seeds; the paper's scores are in parentheses. "
                        "Configurations were chosen by random search on validation nodes, with "
                        "the same number of trials for every lase model (see table3.csv)."};
  if (lab.quick()) {
    document.text +=
        "\n\nThis is a quick run: few seeds, no search, and few epochs on the larger data sets. It "
        "shows that everything works, not how well.";
  }
  fill_tables(document, cells, sets);
  document.svg = svg_picture(plot(cells, sets));
  document.page = write_page(lab, cells);
  document.notes = comparisons(cells, sets) + kStandInNote;
  return document;
}

}  // namespace lase
