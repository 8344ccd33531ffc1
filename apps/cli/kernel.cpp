#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/npy.h"
#include "lase/graph/graph.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/paths.h"
#include "theory/graph_kernels.h"

namespace {

struct KernelFlags {
  std::vector<std::string> graphs;
  std::string kind = "rw";
  lase::KernelOptions options;
  std::string out;
};

const lase::OptionTable<KernelFlags>& kernel_table() {
  static const auto table = [] {
    using O = lase::KernelOptions;
    lase::OptionTable<O> options;
    options.add("length", &O::length, lase::between(0, 1000),
                "Number of hops, or number of nodes per walk");
    options.add("decay", &O::decay, lase::positive(1), "Weight λ of each additional link");
    options.add("depth", &O::depth, lase::between(0, 1000), "Number of relabelings (wl)");
    options.add("normalize", &O::normalize, lase::any(), "Divide K(A,B) by √(K(A,A) K(B,B))");
    lase::OptionTable<KernelFlags> all;
    all.add("kind", &KernelFlags::kind, lase::one_of({"neighbor", "neighborhood", "rw", "wl"}),
            "Kernel: all pairs of neighbors (neighbor), neighborhoods of --length hops "
            "(neighborhood), random walks of --length nodes (rw), or random walks on nodes "
            "relabeled --depth times (wl)");
    all.include(options, &KernelFlags::options);
    all.add("out", &KernelFlags::out, lase::any(),
            "File to write the matrix of all pairs to: .csv or .npy");
    return all;
  }();
  return table;
}

// Gram matrix of n graphs, and their files.
struct Gram {
  std::vector<std::string> files;
  std::vector<double> values;  // [n, n]

  size_t size() const { return files.size(); }
  double at(size_t i, size_t j) const { return values[i * size() + j]; }
};

std::vector<lase::Graph> open_graphs(const std::vector<std::string>& files) {
  std::vector<lase::Graph> graphs;
  for (const auto& file : files) {
    graphs.push_back(lase::load_graph(file));
    const auto& first = graphs.front();
    const auto check = [&](int64_t found, int64_t expected, std::string_view what) {
      lase::require(found == expected, file, ": has ", found, " ", what, ", expected ", expected,
                    " as in ", files.front());
    };
    check(graphs.back().nodes.features.columns, first.nodes.features.columns, "node features");
    check(graphs.back().link_attributes.columns, first.link_attributes.columns, "link attributes");
  }
  return graphs;
}

void write_npy(const Gram& gram, const std::string& path) {
  std::vector<float> values;
  for (const double value : gram.values) {
    lase::require(std::abs(value) <= std::numeric_limits<float>::max(), path, ": the kernel value ",
                  value, " overflows the single precision of .npy; write a .csv file or use ",
                  "--normalize");
    values.push_back(static_cast<float>(value));
  }
  const auto n = static_cast<int64_t>(gram.size());
  lase::write_npy(path, values, n, n);
}

void write_csv(const Gram& gram, const std::string& path) {
  lase::TextWriter out(path);
  out << "graph";
  for (const auto& file : gram.files) (out << ',').field(file);
  out << '\n';
  for (size_t i = 0; i < gram.size(); ++i) {
    out.field(gram.files[i]);
    for (size_t j = 0; j < gram.size(); ++j) out << ',' << gram.at(i, j);
    out << '\n';
  }
  out.commit();
}

void print(const Gram& gram, std::ostream& out) {
  for (size_t i = 0; i < gram.size(); ++i) {
    for (size_t j = 0; j < gram.size(); ++j) out << fmt::format("{:14.6g}", gram.at(i, j));
    out << "  " << gram.files[i] << "\n";
  }
}

nlohmann::json run_kernel(const KernelFlags& flags, const Session& session) {
  lase::KernelOptions options = flags.options;
  options.kind = lase::kernel_named(flags.kind);
  const bool csv = flags.out.ends_with(".csv");
  lase::require_option(flags.out.empty() || csv || flags.out.ends_with(".npy"), "--out ",
                       lase::quote(flags.out), ": must end in .csv or .npy");
  require_distinct_files(flags.graphs, {flags.out});
  const auto graphs = open_graphs(flags.graphs);
  const auto start = std::chrono::steady_clock::now();
  nlohmann::json result = {{"graphs", flags.graphs},   {"kind", flags.kind},
                           {"length", options.length}, {"decay", options.decay},
                           {"depth", options.depth},   {"normalized", options.normalize}};
  auto& out = session.out();
  if (graphs.size() <= 2 && flags.out.empty()) {
    const double kernel = lase::graph_kernel(graphs.front(), graphs.back(), options);
    out << fmt::format("{:.12g}\n", kernel);
    result["kernel"] = kernel;
  } else {
    const Gram gram{flags.graphs, lase::gram_matrix(graphs, options)};
    if (flags.out.empty()) {
      print(gram, out);
    } else {
      const auto write = csv ? write_csv : write_npy;
      write(gram, flags.out);
      out << "Gram matrix of " << gram.size() << " graphs written to " << flags.out << "\n";
      result["out"] = flags.out;
    }
    for (size_t i = 0; i < gram.size(); ++i) {
      for (size_t j = 0; j < gram.size(); ++j) result["gram"][i][j] = gram.at(i, j);
    }
  }
  result["seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace

void add_kernel(CLI::App& app, Session& session) {
  auto flags = std::make_shared<KernelFlags>();
  CLI::App* command =
      session.add_command(app, "kernel", command_summary("kernel"),
                          [flags, &session] { return run_kernel(*flags, session); });
  command
      ->add_option("graphs", flags->graphs,
                   "Graph files: one is compared with itself, two give one number, more give the "
                   "matrix of all pairs")
      ->required()
      ->default_str("");
  add_flags(*command, kernel_table().bind(*flags));
  command->footer(
      "Examples:\n"
      "  lase kernel mail.graph new.graph --normalize\n"
      "  lase kernel mail.graph new.graph --kind wl --depth 2 --out gram.csv");
}
