// Training and inference on a GPU, compared with the CPU.

#include "lase/ops/device.h"

#include "lase/base/error.h"
#include "lase/inference/predict.h"
#include "lase/model/model_file.h"
#include "lase/train/trainer.h"

#include "gpu_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

const Graph& device_graph() {
  static const Graph graph = toy_graph({.nodes = 400, .links = 3000, .split = true});
  return graph;
}

TrainOptions device_options(DeviceChoice device) {
  TrainOptions options;
  options.model.widths = {8, 8};
  options.features.embed.method = EmbedMethod::kNone;
  options.epochs = 5;
  options.batch = 64;
  options.select = "loss";  // a score would select another epoch if rounding changes one prediction
  // Rounding changes the losses on a GPU.
  options.device = {.device = device, .precision = PrecisionChoice::kFp32};
  return options;
}

TEST(Device, TheCpuHasSinglePrecision) {
  EXPECT_TRUE(choose_device({.device = DeviceChoice::kCpu}, 1 << 30).is_cpu());
  EXPECT_TRUE(choose_device({}, 10).is_cpu());  // too small for a GPU
  for (const auto precision : {PrecisionChoice::kTf32, PrecisionChoice::kBf16}) {
    expect_error([&] { choose_device({.device = DeviceChoice::kCpu, .precision = precision}, 10); },
                 {"precision ", ": requires a GPU, but device is cpu"});
  }
}

TEST(Device, TheAutomaticPrecisionDependsOnTheDevice) {
  const at::Device gpu(at::kCUDA, 0);
  EXPECT_EQ(choose_precision({}, at::kCPU, Precision::kBf16), Precision::kFp32);
  EXPECT_EQ(choose_precision({}, gpu, Precision::kBf16), Precision::kBf16);
  EXPECT_EQ(choose_precision({.precision = PrecisionChoice::kTf32}, gpu, Precision::kBf16),
            Precision::kTf32);
  EXPECT_EQ(choose_precision({.precision = PrecisionChoice::kFp32}, gpu, Precision::kBf16),
            Precision::kFp32);
}

TEST(Device, IsRequiredIfItIsChosen) {
  if (ops::cuda::is_built() && at::hasCUDA()) GTEST_SKIP() << "there is a GPU";
  expect_error([] { train(device_graph(), device_options(DeviceChoice::kCuda)); },
               {"device cuda: "});
}

TEST(GpuTrainer, GivesSimilarLossesAndScores) {
  LASE_NEEDS_GPU();
  for (const SamplingOptions& sampling :
       {SamplingOptions{}, SamplingOptions{.fanout = {3}},
        SamplingOptions{.fanout = {3}, .strategy = Strategy::kGate},
        SamplingOptions{.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh = Refresh::kEager},
        SamplingOptions{
            .fanout = {3}, .strategy = Strategy::kSnapshot, .refresh = Refresh::kLazy}}) {
    for (const std::string model : {"lase", "sage", "concat", "rw", "wl", "gcn", "graphsage"}) {
      if (model == "gcn" && sampling.strategy == Strategy::kGate) continue;
      std::vector<double> losses[2];
      std::vector<double> scores;
      for (const auto device : {DeviceChoice::kCpu, DeviceChoice::kCuda}) {
        TrainOptions options = device_options(device);
        options.model.model = model;
        options.sampling = sampling;
        auto& of_device = losses[device == DeviceChoice::kCpu ? 0 : 1];
        options.progress = [&](const EpochReport& report) { of_device.push_back(report.loss); };
        const TrainResult result = train(device_graph(), options);
        scores.push_back(result.val_loss);
        EXPECT_TRUE(result.trained.model->device().is_cpu());
      }
      ASSERT_EQ(losses[0].size(), losses[1].size());
      for (size_t i = 0; i < losses[0].size(); ++i) {
        EXPECT_NEAR(losses[1][i], losses[0][i], 0.02 * (1 + losses[0][i])) << model;
      }
      EXPECT_NEAR(scores[1], scores[0], 0.02 * (1 + scores[0])) << model;
    }
  }
}

TEST(GpuTrainer, GivesTheSameWeightsForTheSameSeed) {
  LASE_NEEDS_GPU();
  const TrainResult first = train(device_graph(), device_options(DeviceChoice::kCuda));
  const TrainResult second = train(device_graph(), device_options(DeviceChoice::kCuda));
  expect_same_weights(*second.trained.model, *first.trained.model);
}

TEST(GpuTrainer, GivesTheSameLossesIfTheGraphStaysOnTheCpu) {
  LASE_NEEDS_GPU();
  constexpr double kGiB = 1 << 30;
  for (const SamplingOptions& sampling :
       {SamplingOptions{.fanout = {3}, .strategy = Strategy::kUniform},
        SamplingOptions{.fanout = {3}, .strategy = Strategy::kGate},
        SamplingOptions{.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh = Refresh::kEager},
        SamplingOptions{
            .fanout = {3}, .strategy = Strategy::kSnapshot, .refresh = Refresh::kLazy}}) {
    std::vector<double> expected;
    // Everything, less and less, and nothing fits.
    for (const double bytes : {1e9, 70e3, 50e3, 30e3, 10e3, 1.0}) {
      TrainOptions options = device_options(DeviceChoice::kCuda);
      options.sampling = sampling;
      options.device.memory = bytes / kGiB;
      std::vector<double> losses;
      options.progress = [&](const EpochReport& report) { losses.push_back(report.loss); };
      const TrainResult result = train(device_graph(), options);
      if (bytes == 1e9) expected = losses;
      if (bytes == 1) {
        EXPECT_EQ(result.on_cpu, "adjacency, link attributes, node features");
      }
      ASSERT_EQ(losses.size(), expected.size());
      for (size_t i = 0; i < losses.size(); ++i) {
        EXPECT_NEAR(losses[i], expected[i], 1e-4 * (1 + expected[i])) << result.on_cpu;
      }
    }
  }
}

TEST(GpuPredict, GivesTheOutputsOfTheCpu) {
  LASE_NEEDS_GPU();
  const TrainedModel trained = train(device_graph(), device_options(DeviceChoice::kCpu)).trained;
  for (const std::vector<int64_t>& fanout : {std::vector<int64_t>{}, std::vector<int64_t>{3}}) {
    const auto on = [&](DeviceChoice device, double memory) {
      return predict(
          trained, device_graph(),
          {.fanout = fanout,
           .device = {.device = device, .precision = PrecisionChoice::kFp32, .memory = memory}});
    };
    const Predictions cpu = on(DeviceChoice::kCpu, 0);
    for (const double memory : {0.0, 1e-9}) {
      const Predictions gpu = on(DeviceChoice::kCuda, memory);
      expect_close(gpu.outputs, cpu.outputs, 1e-4, "outputs");
      expect_close(gpu.embedding, cpu.embedding, 1e-4, "embedding");
    }
  }
}

class DeviceFolder : public FolderTest {};

TEST_F(DeviceFolder, CheckpointsResumeOnAnotherDevice) {
  LASE_NEEDS_GPU();
  TrainOptions options = device_options(DeviceChoice::kCuda);
  options.checkpoint = path("run.checkpoint");
  options.checkpoint_every = 2;
  options.epochs = 4;
  train(device_graph(), options);
  options.resume = true;
  options.epochs = 6;
  options.device.device = DeviceChoice::kCpu;
  EXPECT_EQ(train(device_graph(), options).epochs, 6);
}

}  // namespace
}  // namespace lase
