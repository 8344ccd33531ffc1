#include <algorithm>
#include <cstring>
#include <utility>

#include "lase/kernels/cuda/memory.h"
#include "lase/kernels/cuda/sample.h"
#include "lase/kernels/cuda/sample_kernels.h"

// A batch is computed by few kernels, since each takes microseconds to start:
//
//   number_seeds
//   for each layer, the last layer first:
//     sample_rows    row_ptr, the arcs and, by node, the first arc that leads to it
//     number_nodes   rows for the nodes that appear for the first time
//                                     ← the sizes are known: the host continues
//   for each layer: finish_block and the radix sort of order_arcs
//   release_table
//
// Both prefix sums (row_ptr, and the rows of nodes) are computed by the kernels that use them.
namespace lase::kernels::cuda {
namespace {

// Larger bounds are replaced by the exact number of arcs.
constexpr int64_t kLargestBound = int64_t{1} << 22;

constexpr const char* kStreamFailure = "the GPU failed while sampling";

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), kStreamFailure); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { cudaEventDestroy(event_); }
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), kStreamFailure); }
  void wait() { check(cudaEventSynchronize(event_), kStreamFailure); }
  // Later work on the stream waits.
  void block(cudaStream_t stream) { check(cudaStreamWaitEvent(stream, event_, 0), kStreamFailure); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

class Sampler::State {
 public:
  State(const DeviceAdjacency& graph, cudaStream_t stream) : graph_(graph) {
    require(graph.nodes <= std::numeric_limits<int32_t>::max(), "graphs of more than ",
            std::numeric_limits<int32_t>::max(), " nodes are not supported on the GPU");
    seen_.resize(static_cast<size_t>(graph.nodes));
    nodes_.reserve(std::max<int64_t>(1, graph.nodes));
    table_.reserve(std::max<int64_t>(1, graph.nodes));
    sum_.reserve(1);
    host_sum_.reserve(1);
    largest_degree_ = find_largest_degree(stream);
    require(largest_degree_ <= std::numeric_limits<int32_t>::max(), "nodes with more than ",
            std::numeric_limits<int32_t>::max(), " neighbors are not supported on the GPU");
    int device = 0;
    check(cudaGetDevice(&device), kStreamFailure);
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
          kStreamFailure);
    processors_ = processors;
  }

  bool has_fixed_bounds(int64_t seeds, const BatchSampling& sampling) const {
    if (sampling.hidden_count > 0) return false;
    int64_t targets = seeds;
    for (auto layer = sampling.layers.rbegin(); layer != sampling.layers.rend(); ++layer) {
      const int64_t arcs = targets * layer->fanout;
      if (is_whole(layer->fanout) || arcs > kLargestBound) return false;
      targets = std::min(graph_.nodes, targets + arcs);
    }
    return true;
  }

  void start(std::span<const int64_t> seeds, const BatchSampling& sampling, BatchMemory& memory,
             cudaStream_t stream) {
    if (running_) done_.wait();
    running_ = false;
    check_input(seeds, sampling);
    if (is_clean_) {
      if (stream != stream_) done_.block(stream);
    } else {
      check(cudaDeviceSynchronize(), kStreamFailure);
      check(cudaMemsetAsync(table_.data(), kUnseenByte,
                            static_cast<size_t>(table_.size()) * sizeof(int32_t), stream),
            kStreamFailure);
    }
    is_clean_ = false;  // if something is thrown below
    stream_ = stream;
    enqueue(seeds, sampling, memory);
    is_clean_ = true;
    running_ = true;
  }

  std::vector<BlockSize> finish() {
    require(running_, "no batch is being sampled");
    counted_.wait();
    running_ = false;
    std::vector<BlockSize> sizes(steps_.size());
    for (size_t step = 0; step < steps_.size(); ++step) {
      const int64_t* count = host_counts_.data() + 2 * step;
      sizes[steps_.size() - 1 - step] = {
          .targets = count[0], .sources = count[2], .arcs = count[1]};
    }
    return sizes;
  }

 private:
  struct Step {
    BlockSize bound;
    bool ordered = false;
    BlockArrays out;
  };

  // Distinct seeds are assumed by the bounds, so they are checked first.
  void check_input(std::span<const int64_t> seeds, const BatchSampling& sampling) {
    require(!sampling.pad || has_fixed_bounds(std::ssize(seeds), sampling),
            "batches of different sizes cannot be padded");
    require(sampling.link_dropout >= 0 && sampling.link_dropout < 1,
            "the dropout rate of links must be in [0, 1)");
    for (const auto& layer : sampling.layers) {
      require(sampling.hidden_count == 0 || layer.start == nullptr,
              "hidden arcs require uniform sampling");
    }
    size_t n = 0;
    while (n < seeds.size() && seeds[n] >= 0 && seeds[n] < graph_.nodes &&
           !seen_[static_cast<size_t>(seeds[n])]) {
      seen_[static_cast<size_t>(seeds[n++])] = true;
    }
    for (size_t i = 0; i < n; ++i) seen_[static_cast<size_t>(seeds[i])] = false;
    if (n == seeds.size()) return;
    require(seeds[n] >= 0 && seeds[n] < graph_.nodes, "seed node ", seeds[n], " is not in [0, ",
            graph_.nodes, ")");
    fail("the seed nodes of a batch must be distinct");
  }

  void enqueue(std::span<const int64_t> seeds, const BatchSampling& sampling, BatchMemory& memory) {
    const auto layers = static_cast<int64_t>(sampling.layers.size());
    const VisibleGraph visible{graph_, sampling.hidden_count > 0 ? sampling.hidden : nullptr,
                               sampling.hidden_count};
    counts_.reserve(2 * layers + 1);
    host_counts_.reserve(2 * layers + 1);
    seeds_.reserve(std::max<int64_t>(1, std::ssize(seeds)));
    std::copy(seeds.begin(), seeds.end(), seeds_.data());
    number_seeds({.seeds = seeds_.data(),
                  .n = std::ssize(seeds),
                  .nodes = nodes_.data(),
                  .table = table_.data(),
                  .sources = count(0)},
                 stream_);
    steps_.clear();
    int64_t sources = std::ssize(seeds);
    for (int64_t layer = layers - 1; layer >= 0; --layer) {
      steps_.push_back(sample_layer(visible, sampling, layer, sources, memory));
      sources = steps_.back().bound.sources;
    }
    counted_.record(stream_);
    int64_t* const out = memory.nodes(sources);
    for (size_t step = 0; step < steps_.size(); ++step) finish(visible, step, sampling.pad);
    release_table({.sources = count(2 * steps_.size()).device,
                   .bound = sources,
                   .pad = sampling.pad,
                   .nodes = nodes_.data(),
                   .table = table_.data(),
                   .out = out},
                  stream_);
    done_.record(stream_);
  }

  // `targets` is an upper bound.
  Step sample_layer(const VisibleGraph& visible, const BatchSampling& sampling, int64_t layer,
                    int64_t targets, BatchMemory& memory) {
    const LayerSampling& rows = sampling.layers[static_cast<size_t>(layer)];
    const size_t at = 2 * steps_.size();  // of the counts of this layer
    Step step{.bound = bound_of(visible, rows.fanout, targets, at),
              .ordered = layer >= sampling.ordered_from,
              .out = {}};
    step.out = memory.block(layer, step.bound, step.ordered);
    if (!step.ordered) step.out.arc_target = nullptr;
    FloydMemory floyd = floyd_memory(rows, sampling.replace, largest_degree_);
    if (floyd.capacity > FloydMemory::kLargestShared) {
      floyd.blocks = processors_;
      floyd_.reserve(floyd.blocks * floyd.words_per_block());
      floyd.words = floyd_.data();
    }
    sample_rows({.visible = visible,
                 .nodes = nodes_.data(),
                 .targets = count(at).device,
                 .bound = step.bound.targets,
                 .layer = rows,
                 .replace = sampling.replace,
                 .dropout = sampling.link_dropout,
                 .kept = static_cast<float>(1 / (1 - sampling.link_dropout)),
                 .sampled = sampling.sampled.with(layer),
                 .dropped = sampling.dropped.with(layer),
                 .out = step.out,
                 .table = table_.data(),
                 .arcs = count(at + 1)},
                floyd, tile_sums(row_tiles(step.bound.targets)), stream_);
    number_nodes({.targets = count(at).device,
                  .arcs = count(at + 1).device,
                  .bound = step.bound.arcs,
                  .source = step.out.source,
                  .nodes = nodes_.data(),
                  .table = table_.data(),
                  .sources = count(at + 2)},
                 tile_sums(arc_tiles(step.bound.arcs)), stream_);
    return step;
  }

  // Upper bounds of the sizes of a block. The targets are distinct.
  BlockSize bound_of(const VisibleGraph& visible, int64_t fanout, int64_t targets, size_t at) {
    const bool whole = is_whole(fanout);
    const int64_t longest = whole ? largest_degree_ : fanout;
    // targets < 2^31, and longest < 2^31
    int64_t arcs = std::min(graph_.arcs, targets * longest);
    if (arcs > 0 && (whole || arcs > kLargestBound)) {
      check(cudaMemsetAsync(sum_.data(), 0, sizeof(unsigned long long), stream_), kStreamFailure);
      count_arcs({.visible = visible,
                  .nodes = nodes_.data(),
                  .targets = count(at).device,
                  .bound = targets,
                  .fanout = fanout,
                  .sum = sum_.data()},
                 stream_);
      arcs = read_sum(stream_);
      targets = host_counts_.data()[at];
    }
    require(arcs < kUnseen, "more than ", kUnseen - 1,
            " arcs per batch are not supported; use a smaller batch");
    return {.targets = targets, .sources = std::min(graph_.nodes, targets + arcs), .arcs = arcs};
  }

  bool is_whole(int64_t fanout) const { return fanout < 0 || fanout >= largest_degree_; }

  void finish(const VisibleGraph& visible, size_t at, bool pad) {
    const Step& step = steps_[at];
    finish_block({.visible = visible,
                  .targets = count(2 * at).device,
                  .sources = count(2 * at + 2).device,
                  .arcs = count(2 * at + 1).device,
                  .bound = step.bound,
                  .ordered = step.ordered,
                  .pad = pad,
                  .nodes = nodes_.data(),
                  .table = table_.data(),
                  .out = step.out},
                 stream_);
    const int64_t n = step.bound.arcs;
    if (!step.ordered || n == 0) return;
    if (ascending_.reserve(n)) fill_ascending(ascending_.data(), ascending_.size(), stream_);
    keys_.reserve(n);
    ArcOrder order{.source = step.out.source,
                   .arcs = ascending_.data(),
                   .n = n,
                   .largest = step.bound.sources,
                   .keys = keys_.data(),
                   .by_source = step.out.by_source};
    order.bytes = order_arcs(order, stream_);
    temporary_.reserve(std::max<int64_t>(1, static_cast<int64_t>(order.bytes)));
    order.temporary = temporary_.data();
    order_arcs(order, stream_);
  }

  // Count 0 is the number of seeds; the arcs and the sources of each layer follow.
  SharedCount count(size_t i) const { return {counts_.data() + i, host_counts_.data() + i}; }

  TileSums tile_sums(int64_t tiles) {
    if (words_.reserve(tiles) || ++stamp_ == TileSums::kStamps) {
      check(cudaMemsetAsync(words_.data(), 0, static_cast<size_t>(words_.size()) * sizeof(uint64_t),
                            stream_),
            kStreamFailure);
      stamp_ = 1;
    }
    return {words_.data(), stamp_};
  }

  int64_t find_largest_degree(cudaStream_t stream) {
    check(cudaMemsetAsync(sum_.data(), 0, sizeof(unsigned long long), stream), kStreamFailure);
    cuda::find_largest_degree(graph_, sum_.data(), stream);
    return read_sum(stream);
  }

  int64_t read_sum(cudaStream_t stream) {
    check(cudaMemcpyAsync(host_sum_.data(), sum_.data(), sizeof(unsigned long long),
                          cudaMemcpyDeviceToHost, stream),
          kStreamFailure);
    check(cudaStreamSynchronize(stream), kStreamFailure);
    return static_cast<int64_t>(*host_sum_.data());
  }

  DeviceAdjacency graph_;
  int64_t largest_degree_ = 0;
  int64_t processors_ = 1;
  std::vector<bool> seen_;      // all false between batches
  DeviceArray<int32_t> nodes_;  // by row
  DeviceArray<int32_t> table_;  // by node, see kUnseen
  DeviceArray<int64_t> counts_;
  PinnedArray<int64_t> host_counts_;
  PinnedArray<int32_t> seeds_;
  DeviceArray<unsigned long long> sum_;
  PinnedArray<unsigned long long> host_sum_;
  DeviceArray<uint64_t> words_;
  uint64_t stamp_ = 0;
  DeviceArray<uint64_t> floyd_;
  DeviceArray<int64_t> ascending_;
  DeviceArray<int32_t> keys_;
  DeviceArray<std::byte> temporary_;
  std::vector<Step> steps_;
  Event counted_;
  Event done_;
  cudaStream_t stream_ = nullptr;
  bool is_clean_ = false;  // the table is kUnseen once the enqueued work is done
  bool running_ = false;
};

Sampler::Sampler(const DeviceAdjacency& graph, Stream stream)
    : state_(std::make_unique<State>(graph, stream)) {}
Sampler::~Sampler() = default;

bool Sampler::has_fixed_bounds(int64_t seeds, const BatchSampling& sampling) const {
  return state_->has_fixed_bounds(seeds, sampling);
}

void Sampler::start(std::span<const int64_t> seeds, const BatchSampling& sampling,
                    BatchMemory& memory, Stream stream) {
  state_->start(seeds, sampling, memory, stream);
}

std::vector<BlockSize> Sampler::finish() { return state_->finish(); }

}  // namespace lase::kernels::cuda
