#include <ATen/ATen.h>
#include <cmath>

#include "lase/base/error.h"
#include "lase/inference/objectives/objectives.h"

namespace lase {
namespace {

using at::Tensor;

// Predicts numbers t(u); the loss is the mean squared error of the standardized known targets:
//
//   (z(u) − (t(u) − mean) · scale)²
class Regression : public Objective {
 public:
  using Objective::Objective;

  void fit(std::span<const int64_t> training, bool /*balance*/) override {
    const Tensor rows = targets_of(training).to(at::kDouble);
    const Tensor known = rows.isnan().logical_not();
    const Tensor count = known.sum(0).clamp_min(1).to(at::kDouble);
    const Tensor zeroed = rows.nan_to_num(0);
    const Tensor mean = zeroed.sum(0) / count;
    const Tensor variance = ((zeroed - mean).square() * known).sum(0) / count;
    scale_.mean = mean.to(at::kFloat);
    scale_.scale = variance.sqrt().clamp_min(1e-12).reciprocal().to(at::kFloat);
  }

  // Standardized targets; NaN if unknown.
  Tensor truth(std::span<const int64_t> nodes) const override {
    return (targets_of(nodes) - scale_.mean) * scale_.scale;
  }
  using Objective::loss;
  LossSum loss(const Tensor& outputs, const Tensor& truth) const override {
    const Tensor known = truth.isnan().logical_not().to(at::kFloat);
    const Tensor error = (outputs - truth.nan_to_num(0)) * known;
    return {error.square().sum(), known.sum()};
  }

  TargetScale target_scale() const override { return scale_; }
  void set_target_scale(const TargetScale& scale) override { scale_ = scale; }
  Tensor predictions(const Tensor& outputs) const override {
    require(scale_.mean.defined() && scale_.scale.defined(),
            "the mean and scale of the regression targets are missing");
    return scale_.mean + outputs / scale_.scale;
  }
  int64_t explained_output(const Tensor&) const override { return 0; }

  Scores score(const Tensor& predictions, std::span<const int64_t> nodes,
               Detail /*detail*/) const override {
    const Tensor values = predictions.cpu().contiguous();
    const auto* outputs = values.data_ptr<float>();
    const int64_t columns = values.size(1);
    double error = 0;
    double squares = 0;
    double sum = 0;
    double sum_squares = 0;
    int64_t count = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (int64_t c = 0; c < columns; ++c) {
        const auto truth = static_cast<double>(labels().target[nodes[i] * columns + c]);
        if (std::isnan(truth)) continue;
        const auto predicted = double{outputs[static_cast<int64_t>(i) * columns + c]};
        const double difference = predicted - truth;
        error += std::abs(difference);
        squares += difference * difference;
        sum += truth;
        sum_squares += truth * truth;
        ++count;
      }
    }
    const auto n = static_cast<double>(count);
    const double variation = sum_squares - ratio(sum * sum, n);
    Scores scores;
    scores.nodes = std::ssize(nodes);
    scores.absolute_error = ratio(error, n);
    // Constant targets leave no variance to explain.
    scores.r2 = variation > 0 ? 1 - squares / variation : squares == 0 ? 1 : 0;
    return scores;
  }

  std::vector<std::string> columns(const PredictionColumns&) const override {
    std::vector<std::string> names;
    for (int64_t c = 0; c < outputs(); ++c) names.emplace_back(labels().names[c]);
    return names;
  }
  void write_row(TextWriter& out, std::span<const float> row,
                 const PredictionColumns&) const override {
    for (const float value : row) out << ',' << value;
  }

 protected:
  std::vector<Metric> all_metrics(const Scores& scores) const override {
    return {{"r2", "r2", scores.r2},
            {"absolute_error", "absolute error", scores.absolute_error, true}};
  }

 private:
  TargetScale scale_;
};

}  // namespace

std::unique_ptr<Objective> regression(const Labels& labels) {
  return std::make_unique<Regression>(labels);
}

}  // namespace lase
