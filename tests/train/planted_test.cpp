// A planted graph in which neither nodes nor links alone carry information about the label, but
// both together determine it (figure 3 of the paper): only a model that combines them can learn it.

#include "lase/graph/generate.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

class Planted : public FolderTest {};

TEST_F(Planted, OnlySageLearnsLabelsFromNodesAndLinksTogether) {
  generate_graph({.nodes = 2000, .links = 20'000, .classes = 4, .joint_signal = 1},
                 path("planted.graph"));
  const Graph graph = open_graph(path("planted.graph"));
  const auto micro_f1 = [&](const std::string& architecture, bool gate) {
    TrainOptions options;
    options.model.model = architecture;
    options.model.gate = gate;
    options.model.widths = {32};
    options.model.dropout = 0;
    options.epochs = 20;
    options.patience = 0;
    options.batch = 256;
    const double found = train(graph, options).test.micro_f1;
    RecordProperty(std::string(architecture), std::to_string(found));
    return found;
  };
  constexpr double kChance = 0.25;
  EXPECT_GT(micro_f1("sage", true), 0.9);
  EXPECT_NEAR(micro_f1("graphsage", true), kChance, 0.1);
  EXPECT_NEAR(micro_f1("concat", false), kChance, 0.1);
}

}  // namespace
}  // namespace lase
