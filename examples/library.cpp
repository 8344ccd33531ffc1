// Using lase as a library: import a table of contacts, train, predict, and read an embedding.
//
//   lase_example contacts.csv people.csv

#include <ATen/ATen.h>
#include <iostream>
#include <lase/lase.h>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: lase_example CONTACTS NODES\n";
    return 2;
  }
  lase::ContactsOptions contacts;
  contacts.file = argv[1];
  contacts.nodes.file = argv[2];
  contacts.nodes.label = "department";
  contacts.nodes.split = "65/15/20";
  contacts.rules.separate_directions = true;  // distinguish sent from received mail
  const lase::Graph graph = lase::build_graph(lase::read_contacts(contacts)).graph;

  lase::TrainOptions options;
  options.epochs = 100;
  options.progress = [](const lase::EpochReport& report) {
    if (report.epoch % 10 == 0) {
      std::cout << "epoch " << report.epoch << ", loss " << report.loss << "\n";
    }
  };
  const lase::TrainResult result = lase::train(graph, options);
  std::cout << "test micro-F1 " << result.test.micro_f1 << "\n";

  // The model applies to any graph with the same attributes, including nodes not seen in training.
  const lase::Predictions predictions = lase::predict(result.trained, graph);
  const auto label = predictions.outputs[0].argmax().item<int64_t>();
  std::cout << "node " << graph.nodes.names[0] << ": " << result.trained.label_names[label]
            << "\nits embedding starts with " << predictions.embedding[0][0].item<float>() << "\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
