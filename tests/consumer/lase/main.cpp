#include <iostream>
#include <lase/lase.h>
#include <lase/version.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const lase::Graph graph = lase::load_graph(argv[1]);
  lase::TrainOptions options;
  options.epochs = 2;
  const lase::TrainResult result = lase::train(graph, options);
  std::cout << "lase " << lase::kVersion << ": " << result.epochs << " epochs\n";
}
