#include "lase/inference/link_prediction.h"

#include <ATen/ATen.h>

#include "lase/base/error.h"
#include "lase/inference/objectives/objectives.h"

namespace lase {
namespace {

using at::Tensor;

// Which nodes are linked. Every link e is compared with c negative samples:
//
//   loss = −log exp z_0 / Σ_{j ≤ c} exp z_j     with z_0 the score of e
//
// Outputs are scores [n, 1 + c] in training, and ranks and scores [n, kRankedColumns] otherwise;
// see PredictedLinks. The loss of the latter compares a link with one random pair.
class LinkPrediction : public Objective {
 public:
  explicit LinkPrediction(Ranking ranking) : Objective(Labels()), ranking_(ranking) {}

  int64_t outputs() const override { return 1; }

  void check(std::span<const int64_t> training) const override {
    require(!training.empty(), "the graph has no training links to predict");
  }

  // Every link is linked.
  Tensor truth(std::span<const int64_t> links) const override {
    return at::ones({std::ssize(links)}, at::kFloat);
  }
  using Objective::loss;
  LossSum loss(const Tensor& outputs, const Tensor& truth) const override {
    return {-outputs.log_softmax(1).select(1, 0).sum(), truth.sum()};
  }
  LossSum validation_loss(const Tensor& outputs, std::span<const int64_t> links) const override {
    return loss(outputs.narrow(1, kLinkScore, 2), links);
  }

  Scores score(const Tensor& predictions, std::span<const int64_t> links,
               Detail /*detail*/) const override {
    Scores scores;
    scores.nodes = std::ssize(links);
    if (links.empty()) return scores;
    const Tensor values = predictions.cpu().contiguous();
    const Tensor rank = values.narrow(1, kTargetRank, 2).to(at::kDouble);
    const auto hits = [&](double most) {
      return rank.le(most).to(at::kDouble).mean().item<double>();
    };
    scores.mrr = rank.reciprocal().mean().item<double>();
    scores.hits_at_1 = hits(1);
    scores.hits_at_10 = hits(10);
    scores.hits_at_50 = hits(50);
    std::vector<Ranked> ranked;
    const auto* row = values.data_ptr<float>();
    for (int64_t i = 0; i < scores.nodes; ++i, row += kRankedColumns) {
      ranked.push_back({row[kLinkScore], true});
      ranked.push_back({row[kRandomScore], false});
    }
    const RankScores of_pairs = rank_scores(ranked);
    scores.roc_auc = of_pairs.roc_auc;
    scores.average_precision = of_pairs.average_precision;
    return scores;
  }

  std::vector<std::string> columns(const PredictionColumns&) const override { return {"score"}; }
  void write_row(TextWriter& out, std::span<const float> row,
                 const PredictionColumns&) const override {
    out << ',' << row[0];
  }

 protected:
  std::vector<Metric> all_metrics(const Scores& scores) const override {
    const std::string protocol = ranking_ == Ranking::kAuto ? "" : join(name_of(ranking_), " ");
    return {{"mrr", protocol + "MRR", scores.mrr},
            {"hits_at_1", protocol + "Hits@1", scores.hits_at_1},
            {"hits_at_10", protocol + "Hits@10", scores.hits_at_10},
            {"hits_at_50", protocol + "Hits@50", scores.hits_at_50},
            {"roc_auc", "ROC-AUC", scores.roc_auc},
            {"average_precision", "average precision", scores.average_precision}};
  }

 private:
  Ranking ranking_;
};

}  // namespace

std::unique_ptr<Objective> link_prediction(Ranking ranking) {
  return std::make_unique<LinkPrediction>(ranking);
}

}  // namespace lase
