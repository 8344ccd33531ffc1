// Baselines of link prediction: scores without training, on the test links of a graph.

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "lase/base/error.h"
#include "lase/embed/embed.h"
#include "lase/inference/link_task.h"
#include "lase/ops/one_thread.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"

namespace {

using at::Tensor;

struct LinkFlags {
  std::string graph;
  lase::LinkTaskOptions links;
  uint64_t seed = 1;
};

// Dot products of the embeddings of the pairs' nodes.
Tensor products(const lase::Embedding& embedding, const lase::Query& query) {
  const std::vector<float> rows = embedding.rows();
  const Tensor h = at::from_blob(const_cast<float*>(rows.data()),
                                 {embedding.nodes, embedding.width()}, at::kFloat)
                       .index_select(0, lase::index_of(query.nodes));
  return (h.index_select(0, query.pairs->source) * h.index_select(0, query.pairs->target)).sum(1);
}

nlohmann::json run_links(const LinkFlags& flags, const Session& session) {
  const lase::ops::OneThread one_thread;
  c10::NoGradGuard no_grad;
  lase::LinkTaskOptions options = flags.links;
  options.prediction.ranking = lase::Ranking::kSampled;
  const lase::PreparedTask task = lase::prepare_task(
      lase::load_graph(flags.graph),
      {.predicts = lase::Predicts::kLinkPrediction, .links = options, .seed = flags.seed});
  const auto test = task.seeds(lase::Split::kTest);
  lase::require(!test.empty(), flags.graph, ": has no test links");
  const lase::Adjacency visible = lase::visible_links(task.graph, lase::Split::kTest);
  const lase::PredictedLinks links(task.graph, {.symmetric = true, .statistics = true},
                                   options.prediction, flags.seed);
  const lase::Query query = links.query(test, {visible});
  nlohmann::json all = nlohmann::json::object();
  const auto add = [&](const std::string& name, const Tensor& scores) {
    const auto n = std::ssize(test);
    const Tensor ranks = lase::PredictedLinks::sampled_ranks(scores.reshape({n, -1}));
    const lase::Scores scored = task.objective->score(ranks, test);
    session.out() << fmt::format("{:<22}", name);
    for (const auto& metric : task.objective->metrics(scored)) {
      all[name][metric.key] = metric.value;
      session.out() << fmt::format("  {} {:.4f}", metric.title, metric.value);
    }
    session.out() << "\n";
  };
  const Tensor& statistics = query.pairs->statistics;
  add("preferential attachment", statistics.select(1, 0));
  add("common neighbors", statistics.select(1, 2));
  add("Adamic-Adar", statistics.select(1, 3));
  add("resource allocation", statistics.select(1, 4));
  for (const auto order : {lase::Order::kFirst, lase::Order::kSecond}) {
    const lase::EmbedOptions line{.order = order, .seed = flags.seed};
    add(lase::join("LINE, ", lase::name_of(order), " order"),
        products(lase::embed(task.graph, visible, line), query));
  }
  const lase::EmbedOptions walks{.method = lase::EmbedMethod::kDeepWalk, .seed = flags.seed};
  add("DeepWalk", products(lase::embed(task.graph, visible, walks), query));
  return all;
}

}  // namespace

void add_bench_links(CLI::App& bench, Session& session) {
  auto flags = std::make_shared<LinkFlags>();
  CLI::App* command = session.add_command(
      bench, "links",
      "Score the test links of a graph with common neighbors, Adamic-Adar, resource allocation, "
      "LINE and DeepWalk, for comparison with lase train --task link-prediction",
      [flags, &session] { return run_links(*flags, session); });
  lase::OptionTable<LinkFlags> table;
  table.add("graph", &LinkFlags::graph, lase::any(), "Graph file").required().positional();
  table.add("seed", &LinkFlags::seed, lase::any(), "Random seed");
  add_flags(*command, table.bind(*flags));
  command->add_option("--link-split", flags->links.split,
                      "Percentages of training, validation and test links, if the graph has no "
                      "split of links");
  command->footer("Example:\n  lase bench links contacts.graph");
}
