// lase as a library: open a graph, train, predict, read an embedding.
//
//   lase_example mail.graph

#include <ATen/ATen.h>
#include <iostream>

#include "lase/graph/graph.h"
#include "lase/inference/predict.h"
#include "lase/train/trainer.h"

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: lase_example GRAPH\n";
    return 2;
  }
  const lase::Graph graph = lase::open_graph(argv[1]);
  lase::check_graph(graph, argv[1]);

  lase::TrainOptions options;
  options.epochs = 20;
  options.sampling.fanout = {10, 10};
  options.progress = [](const lase::EpochReport& report) {
    std::cout << "epoch " << report.epoch << ", loss " << report.loss << "\n";
  };
  const lase::TrainResult result = lase::train(graph, options);
  std::cout << "test micro-F1 " << result.test.micro_f1 << "\n";

  // The model reads any graph with the same attributes, with nodes never seen before.
  const lase::Predictions predictions = lase::predict(result.trained, graph);
  const auto label = predictions.probability[0].argmax().item<int64_t>();
  std::cout << "node " << graph.nodes.names[0] << ": " << result.trained.label_names[label]
            << "\nits embedding starts with " << predictions.embedding[0][0].item<float>() << "\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
