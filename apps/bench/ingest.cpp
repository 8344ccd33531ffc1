// End-to-end speed and peak memory of `lase import links`, and the time to open the graph.
//
//   bench_ingest LASE FOLDER [LINKS [COLUMNS]]
//
// Writes FOLDER/links.csv with LINKS lines (default 10 million) of two ids and COLUMNS numbers
// (default 8), imports it with the program LASE, and opens the graph.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/random.h"
#include "lase/graph/graph.h"

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void write_links(const std::string& path, int64_t links, int64_t columns) {
  const auto nodes = static_cast<uint64_t>(std::max<int64_t>(2, links / 10));
  lase::TextWriter out(path);
  out << "source,target";
  for (int64_t j = 0; j < columns; ++j) out << ",attribute" << j;
  out << '\n';
  for (int64_t i = 0; i < links; ++i) {
    lase::Random random(1, i);
    out << static_cast<int64_t>(random.below(nodes)) << ','
        << static_cast<int64_t>(random.below(nodes));
    for (int64_t j = 0; j < columns; ++j) {
      out << ',' << static_cast<float>(static_cast<double>(random.below(1'000'000)) * 1e-6);
    }
    out << '\n';
  }
  out.commit();
}

struct Run {
  double seconds;
  int64_t peak_bytes;
};

// Runs a command in a child process; wall time and peak resident memory.
Run measure(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  struct rusage usage {};
  lase::require(::wait4(child, &status, 0, &usage) == child && status == 0, "the import failed");
  return {seconds_since(start), usage.ru_maxrss * 1024};
}

}  // namespace

int main(int argc, char** argv) try {
  lase::require(argc >= 3, "usage: bench_ingest LASE FOLDER [LINKS [COLUMNS]]");
  const std::string folder = argv[2];
  const int64_t links = argc > 3 ? std::atoll(argv[3]) : 10'000'000;
  const int64_t columns = argc > 4 ? std::atoll(argv[4]) : 8;
  const std::string text = folder + "/links.csv";
  const std::string graph = folder + "/links.graph";
  write_links(text, links, columns);
  const auto text_bytes = static_cast<double>(std::filesystem::file_size(text));

  constexpr int kRepeats = 3;
  std::vector<Run> runs;
  runs.reserve(kRepeats);
  for (int i = 0; i < kRepeats; ++i) {
    runs.push_back(measure({argv[1], "import", "links", text, "--out", graph}));
  }
  std::sort(runs.begin(), runs.end(), [](auto& a, auto& b) { return a.seconds < b.seconds; });
  const Run& median = runs[kRepeats / 2];
  const auto graph_bytes = static_cast<double>(std::filesystem::file_size(graph));

  std::vector<double> opens;
  for (int i = 0; i < 21; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto opened = lase::open_graph(graph);
    opens.push_back(seconds_since(start));
  }
  std::sort(opens.begin(), opens.end());
  std::cout << "text           " << text_bytes / 1e6 << " MB\n"
            << "graph file     " << graph_bytes / 1e6 << " MB\n"
            << "import         " << median.seconds << " s (median of " << kRepeats << "), "
            << text_bytes / 1e6 / median.seconds << " MB/s\n"
            << "peak memory    " << static_cast<double>(median.peak_bytes) / 1e6 << " MB, "
            << static_cast<double>(median.peak_bytes) / graph_bytes << " × the graph file\n"
            << "open           " << opens[opens.size() / 2] * 1e3 << " ms (median), "
            << opens.back() * 1e3 << " ms at most\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << "bench_ingest: " << error.what() << "\n";
  return 1;
}
