// The link kernel alone, on random arcs: time, GFLOP/s of U f(e) and its gradients, and links/s for
// typical layouts and sizes, with the GFLOP/s of a matrix product for comparison.
//
//   bench_kernel --benchmark_filter=dense

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <map>
#include <memory>

#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/graph/random_graph.h"
#include "lase/kernels/kernels.h"

namespace {

using lase::Layout;
using lase::Random;
namespace kernels = lase::kernels;
using Floats = std::vector<float>;

Floats random_floats(int64_t n, uint64_t seed) {
  Floats values(static_cast<size_t>(n));
  Random random(seed);
  for (float& x : values) x = static_cast<float>(2 * random.uniform() - 1) / 4;
  return values;
}

// A typical first layer: kTargets nodes with kFanout random neighbors each.
constexpr int64_t kTargets = 4096;
constexpr int64_t kFanout = 30;
constexpr int64_t kNodes = 61836;
constexpr int64_t kLinks = 1 << 20;

struct Workload {
  lase::Attributes f;
  Floats h, u, shift, p, q, v, ds, s, gate, du, dshift, dp, dq, dv;
  std::vector<int64_t> row_ptr;
  std::vector<int32_t> source, link;
  kernels::GatedSum in;

  Workload(Layout layout, int64_t k, int64_t d)
      : f(lase::random_graph(
              {.nodes = 2, .links = kLinks, .node_dim = 1, .link_dim = k, .layout = layout})
              .link_attributes),
        h(random_floats(kNodes * d, 1)),
        u(random_floats(d * k, 2)),
        shift(random_floats(d, 3)),
        p(random_floats(kTargets, 4)),
        q(random_floats(kNodes, 5)),
        v(random_floats(k, 6)),
        ds(random_floats(kTargets * d, 7)),
        s(static_cast<size_t>(kTargets * d)),
        gate(static_cast<size_t>(kTargets * kFanout)),
        du(u.size()),
        dshift(shift.size()),
        dp(p.size()),
        dq(q.size()),
        dv(v.size()) {
    Random random(8);
    for (int64_t t = 0; t <= kTargets; ++t) row_ptr.push_back(t * kFanout);
    for (int64_t i = 0; i < kTargets * kFanout; ++i) {
      source.push_back(static_cast<int32_t>(random.below(kNodes)));
      link.push_back(static_cast<int32_t>(random.below(kLinks)));
    }
    in.block = {.targets = kTargets,
                .sources = kNodes,
                .row_ptr = row_ptr.data(),
                .source = source.data(),
                .link = link.data()};
    in.f = {.layout = layout,
            .rows = f.rows,
            .columns = k,
            .codes = layout == Layout::kDictionary ? f.codes() : 0,
            .values = f.values.data(),
            .row_ptr = f.row_ptr.data(),
            .column = f.column.data(),
            .code = f.code.data()};
    in.d = d;
    in.terms = {.h = h.data(),
                .u = u.data(),
                .u_shift = shift.data(),
                .p = p.data(),
                .q = q.data(),
                .v = v.data()};
  }

  void forward() { kernels::gated_sum(in, {.s = s.data(), .gate = gate.data()}); }
  void backward() {
    kernels::gated_sum_backward(
        in, gate.data(), ds.data(),
        {.u = du.data(), .u_shift = dshift.data(), .p = dp.data(), .q = dq.data(), .v = dv.data()});
  }
};

void count(benchmark::State& state, int64_t k, int64_t d, double products) {
  const auto links = static_cast<double>(kTargets * kFanout);
  using benchmark::Counter;
  state.counters["links/s"] = Counter(links, Counter::kIsIterationInvariantRate);
  state.counters["GFLOP/s"] = Counter(2e-9 * products * links * static_cast<double>(k * d),
                                      Counter::kIsIterationInvariantRate);
}

void run(benchmark::State& state, Layout layout, bool backward) {
  const int64_t k = state.range(0);
  const int64_t d = state.range(1);
  const lase::ThreadLimit limit(static_cast<int>(state.range(2)));
  Workload work(layout, k, d);
  work.forward();
  for (auto _ : state) backward ? work.backward() : work.forward();
  count(state, k, d, backward ? 2 : 1);
}

void add(const std::string& name, Layout layout, bool backward) {
  auto* bench = benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { run(state, layout, backward); });
  bench->ArgNames({"k", "d", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
  const int threads = lase::thread_count();
  for (const int64_t k : {8, 32, 200}) {
    for (const int64_t d : {64, 128, 602}) bench->Args({k, d, threads});
  }
}

// Torch's matrix product on as many threads: the peak rate that the kernel is compared with.
void matrix_product(benchmark::State& state) {
  constexpr int64_t kSize = 2048;
  at::set_num_threads(static_cast<int>(state.range(0)));
  const at::Tensor a = at::rand({kSize, kSize});
  const at::Tensor b = at::rand({kSize, kSize});
  at::Tensor c = a.mm(b);
  for (auto _ : state) at::mm_out(c, a, b);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * kSize * kSize * kSize,
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Layout> layouts = {
      {"dense", Layout::kDense}, {"sparse", Layout::kSparse}, {"dictionary", Layout::kDictionary}};
  benchmark::RegisterBenchmark("matrix_product", matrix_product)
      ->ArgName("threads")
      ->Arg(lase::thread_count())
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  for (const auto& [name, layout] : layouts) {
    add("forward/" + name, layout, false);
    add("backward/" + name, layout, true);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
