// Compares neighbor sampling on the GPU with a serial version, and measures it:
//
//   sample_check [NODES [LINKS]]    of the largest graph
//
// Exits with 77, which CTest reports as skipped, if there is no GPU.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/memory.h"
#include "lase/kernels/cuda/sample.h"

#include "kernels/cuda/sample_reference.h"

namespace lase {
namespace {

using kernels::cuda::BlockArrays;
using kernels::cuda::BlockSize;
using kernels::cuda::check;
using kernels::cuda::DeviceArray;

constexpr const char* kFailure = "CUDA failed";

template <class T>
void upload(const std::vector<T>& from, DeviceArray<T>& to) {
  to.reserve(std::max<int64_t>(1, std::ssize(from)));
  if (from.empty()) return;
  check(cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
        kFailure);
}

template <class T>
std::vector<T> download(const T* from, int64_t n) {
  std::vector<T> to(static_cast<size_t>(n));
  if (n > 0)
    check(cudaMemcpy(to.data(), from, to.size() * sizeof(T), cudaMemcpyDeviceToHost), kFailure);
  return to;
}

// A graph in device memory.
class DeviceGraph {
 public:
  DeviceGraph(const reference::Graph& graph, bool wide) {
    upload(graph.row_ptr, row_ptr_);
    upload(graph.neighbor, neighbor_);
    view.nodes = graph.nodes();
    view.arcs = graph.arcs();
    view.row_ptr = row_ptr_.data();
    view.neighbor = neighbor_.data();
    if (wide) {
      upload(graph.link, wide_link_);
      view.wide_link = wide_link_.data();
    } else {
      upload(std::vector<int32_t>(graph.link.begin(), graph.link.end()), link_);
      view.link = link_.data();
    }
  }
  kernels::cuda::DeviceAdjacency view;

 private:
  DeviceArray<int64_t> row_ptr_;
  DeviceArray<int32_t> neighbor_;
  DeviceArray<int32_t> link_;
  DeviceArray<int64_t> wide_link_;
};

// Memory of batches. Every array is followed by a page that must keep its content.
class Memory : public kernels::cuda::BatchMemory {
 public:
  explicit Memory(bool wide) : wide_(wide) {}

  BlockArrays block(int64_t layer, const BlockSize& bound, bool ordered) override {
    BlockArrays out;
    out.target = array<int64_t>(bound.targets);
    out.row_ptr = array<int64_t>(bound.targets + 1);
    out.source = array<int32_t>(bound.arcs);
    if (wide_) {
      out.wide_link = array<int64_t>(bound.arcs);
    } else {
      out.link = array<int32_t>(bound.arcs);
    }
    out.weight = array<float>(bound.arcs);
    out.degree = array<float>(bound.sources);
    if (ordered) {
      out.by_source = array<int64_t>(bound.arcs);
      out.arc_target = array<int32_t>(bound.arcs);
    }
    if (std::ssize(blocks) <= layer) blocks.resize(static_cast<size_t>(layer) + 1);
    blocks[static_cast<size_t>(layer)] = out;
    return out;
  }
  int64_t* nodes(int64_t bound) override { return input = array<int64_t>(bound); }

  // Forgets the arrays; the memory is reused if `keep`, else it is filled again.
  void clear(bool keep) {
    used_ = 0;
    guards_.clear();
    if (keep) return;
    slab_.reserve(kBytes);
    check(cudaMemset(slab_.data(), kFill, kBytes), kFailure);
  }
  bool is_intact() const {
    for (const int64_t at : guards_) {
      for (const auto byte : download(slab_.data() + at, kGuard)) {
        if (byte != std::byte{kFill}) return false;
      }
    }
    return true;
  }

  std::vector<BlockArrays> blocks;
  int64_t* input = nullptr;

 private:
  static constexpr int64_t kBytes = int64_t{1} << 28;
  static constexpr int64_t kGuard = 256;
  static constexpr int kFill = 0xA5;

  template <class T>
  T* array(int64_t n) {
    const int64_t at = used_;
    guards_.push_back(at + n * static_cast<int64_t>(sizeof(T)));
    used_ = (guards_.back() + kGuard + 255) / 256 * 256;
    require(used_ <= kBytes, "the batch needs more than ", kBytes, " bytes");
    return reinterpret_cast<T*>(slab_.data() + at);
  }

  bool wide_;
  DeviceArray<std::byte> slab_;
  std::vector<int64_t> guards_;
  int64_t used_ = 0;
};

template <class T>
std::string difference(const std::string& name, const std::vector<T>& expected, const T* data) {
  if (data == nullptr) return name + " is missing";
  const auto actual = download(data, std::ssize(expected));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::memcmp(&expected[i], &actual[i], sizeof(T)) != 0) {
      return join(name, "[", i, "] of ", expected.size(), " is ", actual[i], ", expected ",
                  expected[i]);
    }
  }
  return {};
}

std::string difference(const reference::Block& expected, int64_t targets, const BlockArrays& block,
                       const BlockSize& size, bool ordered) {
  const auto arcs = std::ssize(expected.source);
  if (size.targets != targets) return join("targets: ", size.targets, ", expected ", targets);
  if (size.arcs != arcs) return join("arcs: ", size.arcs, ", expected ", arcs);
  if (size.sources != std::ssize(expected.degree)) {
    return join("sources: ", size.sources, ", expected ", expected.degree.size());
  }
  std::vector<int64_t> target(static_cast<size_t>(targets));
  std::iota(target.begin(), target.end(), 0);
  const std::vector<int32_t> narrow(expected.link.begin(), expected.link.end());
  std::vector<std::string> all{difference("row_ptr", expected.row_ptr, block.row_ptr),
                               difference("source", expected.source, block.source),
                               block.wide_link != nullptr
                                   ? difference("wide link", expected.link, block.wide_link)
                                   : difference("link", narrow, block.link),
                               difference("weight", expected.weight, block.weight),
                               difference("degree", expected.degree, block.degree),
                               difference("target", target, block.target)};
  if (ordered) {
    all.push_back(difference("by_source", expected.by_source, block.by_source));
    all.push_back(difference("arc_target", expected.arc_target, block.arc_target));
  }
  for (const auto& text : all) {
    if (!text.empty()) return text;
  }
  return {};
}

std::string difference(const reference::Batch& expected, size_t seeds, const Memory& memory,
                       const std::vector<BlockSize>& sizes, int64_t ordered_from) {
  if (sizes.size() != expected.blocks.size()) return "the number of blocks differs";
  for (size_t layer = sizes.size(); layer-- > 0;) {
    const auto targets = layer + 1 < sizes.size() ? std::ssize(expected.blocks[layer + 1].degree)
                                                  : static_cast<int64_t>(seeds);
    const auto text = difference(expected.blocks[layer], targets, memory.blocks[layer],
                                 sizes[layer], static_cast<int64_t>(layer) >= ordered_from);
    if (!text.empty()) return join("layer ", layer, ": ", text);
  }
  const auto text = difference("nodes", expected.nodes, memory.input);
  if (!text.empty()) return text;
  return memory.is_intact() ? std::string{} : "memory after an array was written";
}

struct Case {
  std::vector<int64_t> fanouts;
  int64_t seeds = 512;
  bool replace = false;
  double dropout = 0;
  bool probabilities = false;
  bool hidden = false;
  int64_t ordered_from = 0;
  int64_t batch = 0;
};

std::string name_of(const Case& c) {
  std::string name = join(c.seeds, " seeds, fan-out");
  for (const int64_t fanout : c.fanouts) name += join(" ", fanout);
  if (c.replace) name += ", with replacement";
  if (c.dropout > 0) name += join(", dropout ", c.dropout);
  if (c.probabilities) name += ", probabilities";
  if (c.hidden) name += ", hidden arcs";
  if (c.ordered_from > 0) name += join(", ordered from ", c.ordered_from);
  return name;
}

// A graph on both sides, with a sampler that is used for all cases.
class Checker {
 public:
  Checker(std::string name, reference::Graph graph, bool wide)
      : name_(std::move(name)),
        graph_(std::move(graph)),
        device_(graph_, wide),
        memory_(wide),
        sampler_(device_.view, nullptr) {
    start_ = reference::random_start(graph_, 11);
    upload(start_, device_start_);
    Random random(12);
    for (int64_t arc = 0; arc < graph_.arcs(); ++arc) {
      if (random.chance(0.05)) hidden_.push_back(arc);
    }
    // All arcs of the first nodes, and of the last one.
    std::set<int64_t> hidden(hidden_.begin(), hidden_.end());
    const int64_t few = std::min<int64_t>(3, graph_.nodes());
    for (int64_t arc = 0; arc < graph_.row_ptr[static_cast<size_t>(few)]; ++arc) hidden.insert(arc);
    for (int64_t arc = graph_.row_ptr[graph_.row_ptr.size() - 2]; arc < graph_.arcs(); ++arc) {
      hidden.insert(arc);
    }
    hidden_.assign(hidden.begin(), hidden.end());
    upload(hidden_, device_hidden_);
    std::printf("%s: %lld nodes, %lld arcs\n", name_.c_str(),
                static_cast<long long>(graph_.nodes()), static_cast<long long>(graph_.arcs()));
  }

  void run(const Case& c) {
    ++cases;
    const auto seeds = seeds_of(c);
    const auto sampling = sampling_of(c);
    reference::Sampling expected{.replace = c.replace,
                                 .link_dropout = c.dropout,
                                 .hidden = c.hidden ? hidden_ : std::vector<int64_t>{},
                                 .sampled = sampling.sampled,
                                 .dropped = sampling.dropped};
    for (const int64_t fanout : c.fanouts) {
      expected.layers.push_back({fanout, c.probabilities ? &start_ : nullptr});
    }
    memory_.clear(false);
    std::string text;
    std::string sizes_text;
    try {
      const auto sizes = sampler_.sample(seeds, sampling, memory_, nullptr);
      check(cudaDeviceSynchronize(), kFailure);
      const auto batch = reference::sample(graph_, seeds, expected);
      text = difference(batch, seeds.size(), memory_, sizes, c.ordered_from);
      for (const auto& size : sizes) sizes_text += join(" ", size.arcs, "/", size.sources);
    } catch (const std::exception& error) {
      text = error.what();
    }
    if (!text.empty()) ++failures;
    std::printf("%s %s: %s;%s %s\n", text.empty() ? "ok      " : "MISMATCH", name_.c_str(),
                name_of(c).c_str(), sizes_text.c_str(), text.c_str());
    std::fflush(stdout);
  }

  // An invalid batch must be refused and leave the sampler usable.
  void expect_error(const std::vector<int64_t>& seeds, const Case& c) {
    ++cases;
    std::string message;
    try {
      memory_.clear(false);
      sampler_.sample(seeds, sampling_of(c), memory_, nullptr);
    } catch (const Error& error) {
      message = error.what();
    }
    if (message.empty()) ++failures;
    std::printf("%s %s: refused: %s\n", message.empty() ? "MISMATCH" : "ok      ", name_.c_str(),
                message.c_str());
  }

  void measure(const Case& c, int repetitions) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), kFailure);
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    check(cudaEventCreate(&begin), kFailure);
    check(cudaEventCreate(&end), kFailure);
    std::vector<double> device;
    std::vector<double> enqueued;
    std::vector<double> counted;
    std::vector<double> complete;
    std::string sizes_text;
    constexpr int kWarmUp = 10;
    for (int i = 0; i < repetitions + kWarmUp; ++i) {
      Case batch = c;
      batch.batch = i;
      const auto seeds = seeds_of(batch);
      const auto sampling = sampling_of(batch);
      memory_.clear(true);
      check(cudaDeviceSynchronize(), kFailure);
      using Clock = std::chrono::steady_clock;
      const auto started = Clock::now();
      const auto since = [&] {
        return std::chrono::duration<double, std::milli>(Clock::now() - started).count();
      };
      check(cudaEventRecord(begin, stream), kFailure);
      sampler_.start(seeds, sampling, memory_, stream);
      check(cudaEventRecord(end, stream), kFailure);
      const double enqueue_ms = since();
      const auto sizes = sampler_.finish();
      const double counted_ms = since();
      check(cudaStreamSynchronize(stream), kFailure);
      const double complete_ms = since();
      float device_ms = 0;
      check(cudaEventElapsedTime(&device_ms, begin, end), kFailure);
      if (i < kWarmUp) continue;
      device.push_back(device_ms);
      enqueued.push_back(enqueue_ms);
      counted.push_back(counted_ms);
      complete.push_back(complete_ms);
      sizes_text.clear();
      for (const auto& size : sizes) sizes_text += join(" ", size.arcs, "/", size.sources);
    }
    std::printf(
        "time     %s: %s;%s\n         GPU %.4f ms; wall clock: enqueued %.4f, sizes known %.4f, "
        "complete %.4f ms (medians of %d)\n",
        name_.c_str(), name_of(c).c_str(), sizes_text.c_str(), median(device), median(enqueued),
        median(counted), median(complete), repetitions);
    check(cudaEventDestroy(begin), kFailure);
    check(cudaEventDestroy(end), kFailure);
    check(cudaDeviceSynchronize(), kFailure);
    // The stream is not destroyed: the sampler refers to it until its next batch.
  }

  int cases = 0;
  int failures = 0;

 private:
  static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  std::vector<int64_t> seeds_of(const Case& c) const {
    std::vector<int64_t> nodes(static_cast<size_t>(graph_.nodes()));
    std::iota(nodes.begin(), nodes.end(), 0);
    Random random(3, c.batch);
    const auto n = static_cast<size_t>(std::min(c.seeds, graph_.nodes()));
    for (size_t i = 0; i < n; ++i) std::swap(nodes[i], nodes[i + random.below(nodes.size() - i)]);
    nodes.resize(n);
    return nodes;
  }

  kernels::cuda::BatchSampling sampling_of(const Case& c) {
    layers_.clear();
    for (const int64_t fanout : c.fanouts) {
      layers_.push_back({fanout, c.probabilities ? device_start_.data() : nullptr});
    }
    kernels::cuda::BatchSampling sampling;
    sampling.layers = layers_;
    sampling.replace = c.replace;
    sampling.link_dropout = c.dropout;
    sampling.ordered_from = c.ordered_from;
    if (c.hidden) {
      sampling.hidden = device_hidden_.data();
      sampling.hidden_count = std::ssize(hidden_);
    }
    sampling.sampled = Random(5, 0x44524157, 2, c.batch);
    sampling.dropped = Random(5, 0x4C494E4B, 2, c.batch);
    return sampling;
  }

  std::string name_;
  reference::Graph graph_;
  DeviceGraph device_;
  Memory memory_;
  kernels::cuda::Sampler sampler_;
  std::vector<uint32_t> start_;
  std::vector<int64_t> hidden_;
  DeviceArray<uint32_t> device_start_;
  DeviceArray<int64_t> device_hidden_;
  std::vector<kernels::cuda::LayerSampling> layers_;
};

// All combinations of options for one list of fan-outs.
void run_all(Checker& checker, const std::vector<int64_t>& fanouts, int64_t seeds) {
  int64_t batch = 0;
  for (const bool replace : {false, true}) {
    for (const double dropout : {0.0, 0.3}) {
      for (const int attributes : {0, 1, 2}) {
        checker.run({.fanouts = fanouts,
                     .seeds = seeds,
                     .replace = replace,
                     .dropout = dropout,
                     .probabilities = attributes == 1,
                     .hidden = attributes == 2,
                     .ordered_from = batch % 3,
                     .batch = batch});
        ++batch;
      }
    }
  }
}

void check_large(Checker& checker) {
  for (const int64_t fanout : {0, 1, 5, 30, 32, 33, 100, 600, 2048, 2500}) {
    run_all(checker, {fanout}, 512);
  }
  for (const auto& fanouts : std::vector<std::vector<int64_t>>{
           {30, 30}, {1, 5}, {10, -1}, {40, 20}, {5, 5, 5}, {2, 3, 4, 5}}) {
    run_all(checker, fanouts, 512);
  }
  run_all(checker, {-1}, 2000);
  run_all(checker, {-1, 3}, 20);
  run_all(checker, {100'000'000'000}, 100);
  run_all(checker, {}, 7);
  checker.run({.fanouts = {10}, .seeds = 61'836});
  checker.run({.fanouts = {-1}, .seeds = 61'836});
  checker.run({.fanouts = {90}, .seeds = 61'836});  // a bound above the limit
  checker.run({.fanouts = {30, 30}, .seeds = 1});
  checker.run({.fanouts = {30, 30}, .seeds = 0});
  checker.run({.fanouts = {30, 30, 30}, .seeds = 8192, .ordered_from = 1});
}

void check_small(bool wide, int& cases, int& failures) {
  const auto check_graph = [&](const char* name, reference::Graph graph) {
    if (wide) {
      for (int64_t& link : graph.link) link += int64_t{1} << 33;
    }
    Checker checker(name, std::move(graph), wide);
    for (const auto& fanouts : std::vector<std::vector<int64_t>>{{-1}, {0}, {1, 1}, {2, 3, -1}}) {
      for (const int64_t seeds : {0, 1, 3}) run_all(checker, fanouts, seeds);
    }
    checker.expect_error({0, 0}, {.fanouts = {2}});
    checker.expect_error({-1}, {.fanouts = {2}});
    checker.expect_error({1000}, {.fanouts = {2}});
    checker.run({.fanouts = {2, 2}, .seeds = 3});
    cases += checker.cases;
    failures += checker.failures;
  };
  check_graph("one node", {{0, 0}, {}, {}});
  check_graph("one node with a loop", {{0, 1}, {0}, {5}});
  check_graph("no arcs", {{0, 0, 0, 0, 0}, {}, {}});
  check_graph("a pair", {{0, 1, 2}, {1, 0}, {0, 0}});
  check_graph("parallel arcs", {{0, 4, 8}, {1, 1, 1, 1, 0, 0, 0, 0}, {0, 1, 2, 3, 0, 1, 2, 3}});
  check_graph("small", reference::random_graph(50, 200, 8));
}

int run_checks(int64_t nodes, int64_t links) {
  int cases = 0;
  int failures = 0;
  for (const bool wide : {false, true}) {
    check_small(wide, cases, failures);
    reference::Graph graph = reference::random_graph(nodes, links, 9);
    if (wide) {
      for (int64_t& link : graph.link) link += int64_t{1} << 33;
    }
    Checker checker(wide ? "large, wide" : "large", std::move(graph), wide);
    check_large(checker);
    if (!wide) {
      for (const int64_t ordered_from : {1, 0, 2}) {
        checker.measure({.fanouts = {30, 30}, .ordered_from = ordered_from}, 50);
      }
      checker.measure({.fanouts = {30, 30}, .dropout = 0.3, .ordered_from = 1}, 50);
      checker.measure({.fanouts = {30, 30}, .probabilities = true, .ordered_from = 1}, 50);
      checker.run({.fanouts = {30, 30}, .ordered_from = 1});  // on another stream
    }
    cases += checker.cases;
    failures += checker.failures;
  }
  std::printf("%d cases, %d failures\n", cases, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lase

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return 77;  // CTest reports it as skipped
  }
  try {
    const int64_t nodes = argc > 1 ? std::stoll(argv[1]) : 61'836;
    const int64_t links = argc > 2 ? std::stoll(argv[2]) : 1'222'411;
    return lase::run_checks(nodes, links);
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
}
