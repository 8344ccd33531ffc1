// Compares the CUDA kernels of the gated sum with their equations in double precision, on random
// blocks, and times them:
//
//   gated_sum_check           compare
//   gated_sum_check --time    compare, then time the layers of a large training step
//   gated_sum_check --run     run its first layer once, for a profiler such as ncu
//
// Exits with 77, which CTest reports as skipped, if there is no GPU.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lase/base/random.h"
#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/kernels.h"

namespace {

using lase::Layout;
using lase::Precision;
using lase::Random;
using lase::kernels::Amplifier;
namespace kernels = lase::kernels;
namespace cuda = lase::kernels::cuda;

constexpr std::array kPrecisions = {Precision::kFp32, Precision::kTf32, Precision::kBf16};

template <class T>
class Device {
 public:
  Device() = default;
  explicit Device(const std::vector<T>& host) : n_(host.size()) {
    if (n_ == 0) return;
    cuda::check(cudaMalloc(&data_, n_ * sizeof(T)), "cudaMalloc");
    cuda::check(cudaMemcpy(data_, host.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  // Filled with NaN, so that elements that are not written show.
  explicit Device(size_t n) : Device(std::vector<T>(n, static_cast<T>(NAN))) {}
  Device(Device&& other) noexcept : data_(other.data_), n_(other.n_) { other.data_ = nullptr; }
  Device& operator=(Device&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(n_, other.n_);
    return *this;
  }
  ~Device() { cudaFree(data_); }
  T* get() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> values(n_);
    if (n_ == 0) return values;
    cuda::check(cudaMemcpy(values.data(), data_, n_ * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t n_ = 0;
};

// Memory from one allocation, which starts again for every call.
class Arena : public cuda::Scratch {
 public:
  explicit Arena(int64_t bytes) : size_(bytes) { cuda::check(cudaMalloc(&data_, bytes), "arena"); }
  ~Arena() override { cudaFree(data_); }
  void* allocate(int64_t bytes) override {
    void* at = static_cast<char*>(data_) + used_;
    used_ += (bytes + 255) / 256 * 256;
    lase::require(used_ <= size_, "the arena is too small");
    most_ = std::max(most_, used_);
    return at;
  }
  void reset() { used_ = 0; }
  int64_t most() const { return most_; }

 private:
  void* data_ = nullptr;
  int64_t size_ = 0;
  int64_t used_ = 0;
  int64_t most_ = 0;
};

struct Case {
  std::string name;
  int64_t targets = 100;
  int64_t sources = 300;
  std::function<int64_t(int64_t u)> degree = [](int64_t u) { return u % 37; };
  int64_t d = 64;
  int64_t k = 32;
  Layout layout = Layout::kDense;
  Amplifier amplifier = Amplifier::kSigmoid;
  bool gate = true;
  bool links = false;
  bool indexed = false;     // h through h_row
  bool weights = true;      // and scale
  int64_t pad = 0;          // of the rows of h
  int64_t links_count = 0;  // rows of f(e); 0: one per arc
  bool wide = false;
};

struct Problem {
  Case c;
  int64_t arcs = 0;
  std::vector<int64_t> row_ptr = {0};
  std::vector<int32_t> source, link, row;
  std::vector<int64_t> wide_link;
  std::vector<float> weight, scale;
  // f(e)
  int64_t f_rows = 0;
  std::vector<float> values, dense;  // dense: [f_rows, k]
  std::vector<int64_t> f_ptr;
  std::vector<int32_t> column, code;
  // terms
  int64_t h_rows = 0;
  std::vector<float> h, u, shift, p, q, v, ds, factor;
  std::vector<int64_t> h_row;

  int64_t width() const { return c.links ? c.d + 1 + c.k : c.d; }
  int64_t stride() const { return c.d + c.pad; }
};

std::vector<float> normal(size_t n, double scale, uint64_t seed) {
  std::vector<float> values(n);
  constexpr size_t kChunk = 1 << 20;
  std::vector<std::thread> threads;
  for (size_t first = 0; first < n; first += kChunk) {
    const auto fill = [&values, n, scale, seed, first] {
      Random random(seed, first);
      for (size_t i = first; i < std::min(n, first + kChunk); ++i) {
        values[i] = static_cast<float>(scale * 1.7 * (2 * random.uniform() - 1));
      }
    };
    if (n > kChunk) {
      threads.emplace_back(fill);
    } else {
      fill();
    }
  }
  for (auto& thread : threads) thread.join();
  return values;
}

Problem make_problem(const Case& c, uint64_t seed) {
  Problem x;
  x.c = c;
  Random random(seed);
  for (int64_t u = 0; u < c.targets; ++u) {
    const int64_t degree = c.degree(u);
    x.row_ptr.push_back(x.row_ptr.back() + degree);
    x.row.insert(x.row.end(), static_cast<size_t>(degree), static_cast<int32_t>(u));
  }
  x.arcs = x.row_ptr.back();
  x.f_rows = std::max<int64_t>(1, c.links_count > 0 ? c.links_count : x.arcs);
  for (int64_t i = 0; i < x.arcs; ++i) {
    x.source.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(c.sources))));
    x.link.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(x.f_rows))));
    x.weight.push_back(static_cast<float>(0.5 + random.uniform()));
  }
  x.wide_link.assign(x.link.begin(), x.link.end());
  for (int64_t u = 0; u < c.targets; ++u) x.scale.push_back(static_cast<float>(random.uniform()));
  const auto k = static_cast<size_t>(c.k);
  const auto rows = static_cast<size_t>(x.f_rows);
  if (c.layout == Layout::kDense) {
    x.values = x.dense = normal(rows * k, 1, seed + 1);
  } else if (c.layout == Layout::kDictionary) {
    const size_t codes = std::max<size_t>(1, rows / 3);
    x.values = normal(codes * k, 1, seed + 1);
    for (size_t i = 0; i < rows; ++i) {
      x.code.push_back(static_cast<int32_t>(random.below(codes)));
      const float* from = x.values.data() + static_cast<size_t>(x.code.back()) * k;
      x.dense.insert(x.dense.end(), from, from + k);
    }
  } else {
    x.dense.assign(rows * k, 0);
    x.f_ptr.push_back(0);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < k; ++j) {
        if (!random.chance(0.2)) continue;
        x.dense[i * k + j] = static_cast<float>(1 + random.uniform());
        x.values.push_back(x.dense[i * k + j]);
        x.column.push_back(static_cast<int32_t>(j));
      }
      x.f_ptr.push_back(static_cast<int64_t>(x.values.size()));
    }
  }
  x.h_rows = c.indexed ? 2 * c.sources : c.sources;
  for (int64_t v = 0; v < c.sources; ++v) {
    x.h_row.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(x.h_rows))));
  }
  const auto d = static_cast<size_t>(c.d);
  const double in = 1 / std::sqrt(std::max<double>(1, static_cast<double>(c.k)));
  x.h = normal(static_cast<size_t>(x.h_rows * x.stride()), 1, seed + 2);
  x.u = normal(d * k, in, seed + 3);
  x.shift = normal(d, 0.5, seed + 4);
  x.p = normal(static_cast<size_t>(c.targets), 1, seed + 5);
  x.q = normal(static_cast<size_t>(c.sources), 1, seed + 6);
  x.v = normal(k, in, seed + 7);
  x.ds = normal(static_cast<size_t>(c.targets * x.width()), 1, seed + 8);
  x.factor = normal(static_cast<size_t>(c.targets) * d, 1, seed + 9);
  return x;
}

using Doubles = std::vector<double>;

struct Result {
  Doubles s, gate, norm, dh, du, dshift, dp, dq, dv;
};

template <class Body>
void parallel(int64_t n, const Body& body) {
  const auto threads = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> all;
  for (int64_t t = 0; t < threads; ++t) {
    all.emplace_back([&, t] { body(t * n / threads, (t + 1) * n / threads, t); });
  }
  for (auto& thread : all) thread.join();
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Result reference(const Problem& x) {
  const Case& c = x.c;
  const auto at = [](int64_t i) { return static_cast<size_t>(i); };
  Result r;
  r.s.assign(at(c.targets * x.width()), 0);
  r.gate.assign(at(x.arcs), 1);
  r.norm.assign(at(x.arcs), 0);
  r.dp.assign(at(c.targets), 0);
  r.dq.assign(at(c.sources), 0);
  r.dv.assign(at(c.k), 0);
  Doubles dz(at(x.arcs), 0);
  const auto threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<Doubles> du(threads), dshift(threads), dh(threads);
  const bool with_h = !c.indexed;
  parallel(c.targets, [&](int64_t first, int64_t last, int64_t t) {
    auto& own_du = du[at(t)];
    auto& own_shift = dshift[at(t)];
    auto& own_dh = dh[at(t)];
    own_du.assign(at(c.d * c.k), 0);
    own_shift.assign(at(c.d), 0);
    if (with_h) own_dh.assign(at(c.sources * c.d), 0);
    for (int64_t u = first; u < last; ++u) {
      for (int64_t i = x.row_ptr[at(u)]; i < x.row_ptr[at(u + 1)]; ++i) {
        const int64_t v = x.source[at(i)];
        const float* f = x.dense.data() + int64_t{x.link[at(i)]} * c.k;
        const float* h = x.h.data() + (c.indexed ? x.h_row[at(v)] : v) * x.stride();
        double gate = 1;
        if (c.gate) {
          double z = double{x.p[at(u)]} + x.q[at(v)];
          for (int64_t j = 0; j < c.k; ++j) z += double{x.v[at(j)]} * f[j];
          gate = sigmoid(z);
        }
        r.gate[at(i)] = gate;
        const double w = c.weights ? double{x.weight[at(i)]} * x.scale[at(u)] : 1;
        const float* ds = x.ds.data() + u * x.width();
        double* s = r.s.data() + u * x.width();
        double dot = 0;
        double squares = c.links ? 1 : 0;
        for (int64_t e = 0; e < c.d; ++e) {
          double z = 0;
          double a = 1;
          double slope = 0;
          if (c.amplifier != Amplifier::kNone) {
            z = x.shift[at(e)];
            for (int64_t j = 0; j < c.k; ++j) z += double{x.u[at(e * c.k + j)]} * f[j];
            a = c.amplifier == Amplifier::kSigmoid ? sigmoid(z) : z;
            slope = c.amplifier == Amplifier::kSigmoid ? a * (1 - a) : 1;
          }
          const double term = h[e] * a;
          s[e] += w * gate * term;
          squares += term * x.factor[at(u * c.d + e)] * term * x.factor[at(u * c.d + e)];
          dot += double{ds[e]} * term;
          const double dterm = w * gate * ds[e] * h[e] * slope;
          own_shift[at(e)] += dterm;
          if (c.amplifier != Amplifier::kNone) {
            for (int64_t j = 0; j < c.k; ++j) own_du[at(e * c.k + j)] += dterm * f[j];
          }
          if (with_h) own_dh[at(v * c.d + e)] += w * gate * ds[e] * a;
        }
        if (c.links) {
          s[c.d] += w * gate;
          dot += ds[c.d];
          for (int64_t j = 0; j < c.k; ++j) {
            s[c.d + 1 + j] += w * gate * f[j];
            dot += double{ds[c.d + 1 + j]} * f[j];
          }
        }
        r.norm[at(i)] = gate * std::sqrt(squares);
        dz[at(i)] = w * dot * gate * (1 - gate);
      }
    }
  });
  const auto total = [](const std::vector<Doubles>& parts) {
    Doubles sum = parts[0];
    for (size_t t = 1; t < parts.size(); ++t) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += parts[t].empty() ? 0 : parts[t][i];
    }
    return sum;
  };
  r.du = total(du);
  r.dshift = total(dshift);
  r.dh = total(dh);
  for (int64_t i = 0; i < x.arcs; ++i) {
    r.dp[at(x.row[at(i)])] += dz[at(i)];
    r.dq[at(x.source[at(i)])] += dz[at(i)];
    const float* f = x.dense.data() + int64_t{x.link[at(i)]} * c.k;
    for (int64_t j = 0; j < c.k; ++j) r.dv[at(j)] += dz[at(i)] * f[j];
  }
  return r;
}

// ‖found − expected‖ / ‖expected‖; infinite if an element is NaN.
double error(const std::vector<float>& found, const Doubles& expected) {
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double x = found[i] - expected[i];
    difference += x * x;
    norm += expected[i] * expected[i];
  }
  if (!(difference >= 0)) return INFINITY;
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

// A problem on the device.
struct OnDevice {
  const Problem& x;
  Device<int64_t> row_ptr, wide_link, f_ptr, h_row;
  Device<int32_t> source, link, column, code;
  Device<float> weight, scale, values, h, u, shift, p, q, v, ds, factor;
  Device<float> s, gate, norm, dh, du, dshift, dp, dq, dv;

  explicit OnDevice(const Problem& from)
      : x(from),
        row_ptr(from.row_ptr),
        wide_link(from.wide_link),
        f_ptr(from.f_ptr),
        h_row(from.h_row),
        source(from.source),
        link(from.link),
        column(from.column),
        code(from.code),
        weight(from.weight),
        scale(from.scale),
        values(from.values),
        h(from.h),
        u(from.u),
        shift(from.shift),
        p(from.p),
        q(from.q),
        v(from.v),
        ds(from.ds),
        factor(from.factor),
        s(static_cast<size_t>(from.c.targets * from.width())),
        gate(static_cast<size_t>(from.arcs)),
        norm(static_cast<size_t>(from.arcs)),
        dh(static_cast<size_t>(from.c.sources * from.c.d)),
        du(from.u.size()),
        dshift(from.shift.size()),
        dp(from.p.size()),
        dq(from.q.size()),
        dv(from.v.size()) {}

  cuda::DeviceSum sum(Precision precision) const {
    const Case& c = x.c;
    kernels::GatedSum sum;
    sum.block = {.targets = c.targets,
                 .sources = c.sources,
                 .row_ptr = row_ptr.get(),
                 .source = source.get(),
                 .link = c.wide ? nullptr : link.get(),
                 .wide_link = c.wide ? wide_link.get() : nullptr,
                 .weight = c.weights ? weight.get() : nullptr,
                 .scale = c.weights ? scale.get() : nullptr};
    sum.f = {.layout = c.layout,
             .rows = x.f_rows,
             .columns = c.k,
             .codes = 0,
             .values = values.get(),
             .row_ptr = f_ptr.get(),
             .column = column.get(),
             .code = code.get()};
    sum.d = c.d;
    sum.amplifier = c.amplifier;
    sum.links = c.links;
    sum.terms.h = h.get();
    if (c.indexed) sum.terms.h_row = h_row.get();
    if (c.amplifier != Amplifier::kNone) {
      sum.terms.u = u.get();
      sum.terms.u_shift = shift.get();
    }
    if (c.gate) {
      sum.terms.p = p.get();
      sum.terms.q = q.get();
      if (c.k > 0) sum.terms.v = v.get();
    }
    return {.sum = sum, .arcs = x.arcs, .h_stride = x.stride(), .precision = precision};
  }
  kernels::GatedSumOutput output(bool norms) const {
    return {.s = s.get(),
            .gate = x.c.gate ? gate.get() : nullptr,
            .norm = norms ? norm.get() : nullptr,
            .factor = norms ? factor.get() : nullptr};
  }
  kernels::GatedSumGradients gradients() const {
    const cuda::DeviceSum in = sum(Precision::kFp32);
    const auto& terms = in.sum.terms;
    return {.h = x.c.indexed ? nullptr : dh.get(),
            .u = terms.u != nullptr ? du.get() : nullptr,
            .u_shift = terms.u != nullptr ? dshift.get() : nullptr,
            .p = terms.p != nullptr ? dp.get() : nullptr,
            .q = terms.p != nullptr ? dq.get() : nullptr,
            .v = terms.v != nullptr ? dv.get() : nullptr};
  }
};

bool compare(const Problem& x, Arena& arena) {
  const Result expected = reference(x);
  bool ok = true;
  for (const Precision precision : kPrecisions) {
    const OnDevice on(x);
    const cuda::DeviceSum in = on.sum(precision);
    const cuda::Launch launch{.stream = nullptr, .scratch = &arena};
    arena.reset();
    cuda::gated_sum(in, on.output(true), launch);
    arena.reset();
    cuda::gated_sum_backward(in, x.c.gate ? on.gate.get() : nullptr, on.ds.get(), on.gradients(),
                             launch);
    cuda::check(cudaDeviceSynchronize(), "synchronize");
    constexpr std::array kLimits = {1e-5, 3e-3, 3e-2};  // fp32, tf32, bf16
    const double limit = kLimits[static_cast<size_t>(precision)];
    std::string text;
    const auto show = [&](const char* name, const Device<float>& found, const Doubles& wanted) {
      const double e = error(found.host(), wanted);
      char part[64];
      std::snprintf(part, sizeof(part), " %s %.0e%s", name, e, e <= limit ? "" : "!!");
      text += part;
      ok = ok && e <= limit;
    };
    const auto gradients = on.gradients();
    show("s", on.s, expected.s);
    if (x.c.gate) show("gate", on.gate, expected.gate);
    show("norm", on.norm, expected.norm);
    if (gradients.h != nullptr) show("dh", on.dh, expected.dh);
    if (gradients.u != nullptr) show("dU", on.du, expected.du);
    if (gradients.u_shift != nullptr) show("dshift", on.dshift, expected.dshift);
    if (gradients.p != nullptr) show("dp", on.dp, expected.dp);
    if (gradients.q != nullptr) show("dq", on.dq, expected.dq);
    if (gradients.v != nullptr) show("dV", on.dv, expected.dv);
    // A second run gives the same bits.
    const auto s = on.s.host();
    const auto du = on.du.host();
    const auto dh = on.dh.host();
    arena.reset();
    cuda::gated_sum(in, on.output(false), launch);
    arena.reset();
    cuda::gated_sum_backward(in, x.c.gate ? on.gate.get() : nullptr, on.ds.get(), gradients,
                             launch);
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    if (!same(s, on.s.host()) || !same(du, on.du.host()) || !same(dh, on.dh.host())) {
      text += " DIFFERENT BITS";
      ok = false;
    }
    std::printf("%-36s %s%s\n", x.c.name.c_str(), std::string(lase::name_of(precision)).c_str(),
                text.c_str());
  }
  std::fflush(stdout);
  return ok;
}

template <class Run>
double median_ms(const Run& run) {
  cudaEvent_t first;
  cudaEvent_t last;
  cuda::check(cudaEventCreate(&first), "event");
  cuda::check(cudaEventCreate(&last), "event");
  std::vector<float> times;
  for (int i = 0; i < 25; ++i) {
    cudaEventRecord(first);
    run();
    cudaEventRecord(last);
    cuda::check(cudaEventSynchronize(last), "event");
    float ms = 0;
    cudaEventElapsedTime(&ms, first, last);
    if (i >= 5) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void run_layer(const Case& c, Arena& arena) {
  const Problem x = make_problem(c, 3);
  const OnDevice on(x);
  const cuda::Launch launch{.stream = nullptr, .scratch = &arena};
  for (const Precision precision : kPrecisions) {
    const cuda::DeviceSum in = on.sum(precision);
    arena.reset();
    cuda::gated_sum(in, on.output(false), launch);
    arena.reset();
    cuda::gated_sum_backward(in, on.gate.get(), on.ds.get(), on.gradients(), launch);
    cuda::check(cudaDeviceSynchronize(), "synchronize");
  }
}

void time_layer(const Case& c, Arena& arena) {
  const Problem x = make_problem(c, 3);
  const OnDevice on(x);
  const double gigabytes = static_cast<double>(x.arcs * c.d) * sizeof(float) / 1e9;
  for (const Precision precision : kPrecisions) {
    const cuda::DeviceSum in = on.sum(precision);
    const cuda::Launch launch{.stream = nullptr, .scratch = &arena};
    const double forward = median_ms([&] {
      arena.reset();
      cuda::gated_sum(in, on.output(false), launch);
    });
    const double backward = median_ms([&] {
      arena.reset();
      cuda::gated_sum_backward(in, c.gate ? on.gate.get() : nullptr, on.ds.get(), on.gradients(),
                               launch);
    });
    std::printf(
        "%-36s %s: %lld arcs, forward %.3f ms (%.2f TB/s of h), backward %.3f ms; scratch "
        "%.0f MB\n",
        c.name.c_str(), std::string(lase::name_of(precision)).c_str(),
        static_cast<long long>(x.arcs), forward, gigabytes / forward, backward,
        static_cast<double>(arena.most()) / 1e6);
  }
  std::fflush(stdout);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto hubs = [](int64_t u) { return u == 7 ? int64_t{5000} : (u == 9 ? 1300 : u % 11); };
  all.push_back({.name = "dense k 32"});
  all.push_back({.name = "d 602 padded, indexed", .d = 602, .indexed = true, .pad = 6});
  all.push_back({.name = "d 602 unpadded, indexed", .d = 602, .indexed = true});
  all.push_back({.name = "hubs", .degree = hubs, .d = 100});
  all.push_back({.name = "hubs, links", .degree = hubs, .d = 40, .k = 5, .links = true});
  all.push_back({.name = "no arcs", .degree = [](int64_t) { return int64_t{0}; }});
  all.push_back({.name = "one arc",
                 .targets = 1,
                 .sources = 1,
                 .degree = [](int64_t) { return int64_t{1}; },
                 .d = 1,
                 .k = 1});
  all.push_back({.name = "no gate", .d = 33, .k = 7, .gate = false});
  all.push_back({.name = "no amplifier", .d = 130, .k = 9, .amplifier = Amplifier::kNone});
  all.push_back({.name = "no amplifier, no gate, no f",
                 .d = 16,
                 .k = 0,
                 .amplifier = Amplifier::kNone,
                 .gate = false});
  all.push_back({.name = "gate without f", .d = 16, .k = 0, .amplifier = Amplifier::kNone});
  all.push_back(
      {.name = "linear, links", .d = 90, .k = 20, .amplifier = Amplifier::kLinear, .links = true});
  all.push_back({.name = "links, no amplifier",
                 .d = 20,
                 .k = 64,
                 .amplifier = Amplifier::kNone,
                 .links = true});
  for (const int64_t k : {3, 8, 40, 64, 100, 128, 200, 224}) {
    all.push_back({.name = "k " + std::to_string(k), .d = 150, .k = k, .links = k % 8 == 0});
  }
  for (const Layout layout : {Layout::kSparse, Layout::kDictionary}) {
    const std::string name = layout == Layout::kSparse ? "sparse" : "dictionary";
    all.push_back({.name = name, .layout = layout});
    all.push_back({.name = name + ", links, hubs",
                   .degree = hubs,
                   .d = 70,
                   .k = 33,
                   .layout = layout,
                   .amplifier = Amplifier::kLinear,
                   .links = true});
    all.push_back({.name = name + ", k 120", .k = 120, .layout = layout, .wide = true});
  }
  all.push_back({.name = "unweighted", .weights = false});
  all.push_back({.name = "many rows",
                 .targets = 30000,
                 .sources = 20000,
                 .degree = [](int64_t u) { return u % 23; },
                 .d = 96,
                 .k = 16});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no GPU");
    return 77;
  }
  try {
    Arena arena(int64_t{6} << 30);
    const auto thirty = [](int64_t) { return int64_t{30}; };
    const Case first{.name = "first layer of R",
                     .targets = 13900,
                     .sources = 61836,
                     .degree = thirty,
                     .d = 602,
                     .k = 32,
                     .indexed = true,
                     .pad = 6,
                     .links_count = 1222411};
    if (argc > 1 && std::strcmp(argv[1], "--run") == 0) {
      run_layer(first, arena);
      return 0;
    }
    int failed = 0;
    uint64_t seed = 1;
    for (const Case& c : cases()) failed += compare(make_problem(c, ++seed), arena) ? 0 : 1;
    std::printf("%d of %zu cases failed\n", failed, cases().size());
    if (argc > 1 && std::strcmp(argv[1], "--time") == 0) {
      time_layer(first, arena);
      Case other = first;
      other.name = "first layer of R, not padded";
      other.pad = 0;
      time_layer(other, arena);
      other = first;
      other.name = "first layer of R, k 200";
      other.k = 200;
      time_layer(other, arena);
      other = first;
      other.name = "first layer of R, lase";
      other.links = true;
      other.amplifier = Amplifier::kLinear;
      time_layer(other, arena);
      time_layer({.name = "second layer of R",
                  .targets = 512,
                  .sources = 13900,
                  .degree = thirty,
                  .d = 128,
                  .k = 32,
                  .links_count = 1222411},
                 arena);
      other = first;
      other.name = "R, compared";
      failed += compare(make_problem(other, 11), arena) ? 0 : 1;
    }
    return failed == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
