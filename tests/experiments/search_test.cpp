#include "experiments/search.h"

#include <gtest/gtest.h>

#include "lase/base/error.h"

#include "support.h"

namespace lase {
namespace {

using nlohmann::json;

TEST(ChoiceFrom, ReadsValuesAndRanges) {
  const Choice rate = choice_from("learning-rate=0.003:0.01");
  EXPECT_EQ(rate.name, "learning_rate");
  EXPECT_EQ(rate.values, (std::vector<json>{0.003, 0.01}));
  EXPECT_EQ(choice_from("widths=64,32:128").values,
            (std::vector<json>{{64, 32}, json::array({128})}));
  EXPECT_EQ(choice_from("fanout=all,3:auto:5").values,
            (std::vector<json>{json::array({"all", 3}), "auto", 5}));
  EXPECT_EQ(choice_from("combine=add:concat").values, (std::vector<json>{"add", "concat"}));
  EXPECT_EQ(choice_from("gate=scalar:none").values, (std::vector<json>{"scalar", "none"}));
  const Choice range = choice_from("weight-decay=1e-5..1e-2");
  EXPECT_EQ(range.low, 1e-5);
  EXPECT_EQ(range.high, 1e-2);
  for (const char* bad :
       {"", "=3", "rate=", "rate", "rate=3..1", "rate=0..1", "rate=a..b", "dropout=0.2:2",
        "epochs=2.5", "learning-rate=0.1..1e38", "combine=add:mix"}) {
    expect_error([&] { choice_from(bad); }, {"--vary"});
  }
}

TEST(DrawSetups, StartsWithNoChangeAndHasNoRepeats) {
  const std::vector<Choice> choices = {{.name = "dropout", .values = {0.2, 0.5}},
                                       {.name = "combine", .values = {"add", "concat"}}};
  const auto configurations = sample_configurations(choices, 100, 3);
  ASSERT_EQ(configurations.size(), 5);  // all combinations, and no change
  EXPECT_EQ(configurations[0], json::object());
  for (size_t i = 1; i < configurations.size(); ++i) {
    for (size_t j = 1; j < i; ++j) EXPECT_NE(configurations[i], configurations[j]);
  }
  EXPECT_EQ(sample_configurations(choices, 3, 3),
            std::vector(configurations.begin(), configurations.begin() + 3));
}

TEST(DrawSetups, SamplesRangesLogUniformly) {
  const auto configurations =
      sample_configurations({{.name = "learning_rate", .low = 1e-4, .high = 1}}, 400, 1);
  int below = 0;
  for (size_t i = 1; i < configurations.size(); ++i) {
    const auto rate = configurations[i].at("learning_rate").get<double>();
    EXPECT_GE(rate, 0.99e-4);
    EXPECT_LE(rate, 1);
    below += rate < 1e-2 ? 1 : 0;
  }
  EXPECT_NEAR(below, 200, 50);
}

TEST(TrainOptionTable, ChangesOnlyTheNamedOptions) {
  const TrainOptions base;
  const TrainOptions changed = train_option_table().from_json(
      {{"learning_rate", 0.5}, {"widths", {7, 8}}, {"combine", "concat"}, {"gate", "none"}}, base);
  EXPECT_EQ(changed.learning_rate, 0.5);
  EXPECT_EQ(changed.model.widths, (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(changed.model.combine, CombineChoice::kConcat);
  EXPECT_FALSE(changed.model.gate);
  // All options survive a round trip through JSON.
  TrainOptions all;
  all.model = {.model = "wl",
               .widths = {3},
               .combine = CombineChoice::kMultiply,
               .amplifier = AmplifierChoice::kLinear,
               .aggregate = ops::Aggregate::kSum,
               .gate = false,
               .depth = 2,
               .project = 5,
               .input_dropout = 0.2,
               .dropout = 0.1,
               .normalize = false,
               .decoder = DecoderChoice::kDot,
               .decoder_width = 6};
  all.predicts = Predicts::kLinkPrediction;
  all.links = {.split = "70/10/20",
               .prediction = {.negatives = 3,
                              .sampling = NegativeSampling::kDegree,
                              .negative_file = "pairs.csv",
                              .ranking = Ranking::kSampled}};
  all.calibrate = true;
  all.label_inputs = LabelInputs::kOff;
  all.common_neighbors = CommonNeighbors::kOff;
  all.node_scaling = NodeScaling::kRow;
  all.epochs = 3;
  all.patience = 4;
  all.batch = 5;
  all.chunks = 7;
  all.sampling = {.fanout = {2},
                  .strategy = Strategy::kGate,
                  .replacement = Replacement::kWith,
                  .link_dropout = 0.1,
                  .refresh_every = 6,
                  .refresh = Refresh::kEager};
  all.transductive = true;
  all.strict_inductive = true;
  all.learning_rate = 0.2;
  all.schedule = Schedule::kCosine;
  all.adam = {.weight_decay = 0.3, .clip = 7};
  all.balance = true;
  all.average = 0.4;
  all.select = "macro_f1";
  all.eval_every = 8;
  all.seed = 9;
  all.device = {.device = DeviceChoice::kCuda, .precision = PrecisionChoice::kTf32, .memory = 2};
  const auto& table = train_option_table();
  EXPECT_EQ(to_json(table.from_json(json::parse(to_json(all).dump()))), to_json(all));
  // Every option differs from its default, so that none is missed.
  for (const auto& option : table.options()) {
    if (option.info.name.starts_with("features")) continue;
    EXPECT_NE(option.get(all), option.info.default_value) << option.info.name;
  }
}

TEST(TrainOptionTable, RejectsInvalidValues) {
  const auto reject = [](const json& changes, std::initializer_list<std::string> parts) {
    expect_error([&] { train_option_table().from_json(changes); }, parts);
  };
  reject({{"color", 1}}, {"color"});
  reject({{"learning_rate", "fast"}}, {"learning_rate", "fast"});
  reject({{"learning_rate", 1e38}}, {"learning_rate 1e+38"});
  reject({{"widths", 3}}, {"widths"});
  reject({{"combine", "mix"}}, {"mix"});
  reject({{"features_width", 0}}, {"features_width 0"});
}

TEST(SetupText, IsReadable) {
  EXPECT_EQ(configuration_text(json::object()), "(given options)");
  EXPECT_EQ(configuration_text({{"combine", "add"}, {"widths", {3, 4}}}), "combine=add widths=3,4");
  EXPECT_EQ(configuration_text({{"ema_decay", 0.9995}, {"dropout", 3 * 0.1}}),
            "dropout=0.3 ema_decay=0.9995");
}

}  // namespace
}  // namespace lase
