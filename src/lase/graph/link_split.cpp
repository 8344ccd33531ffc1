#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lase/base/interner.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/graph/split.h"

namespace lase {
namespace {

constexpr uint64_t kLinkSplitStream = 0x4C49'4E4B'53;  // a random stream of its own
constexpr int64_t kLinks = 1 << 14;

// Times at which the validation and the test split begin.
struct Boundaries {
  double val = std::numeric_limits<double>::infinity();
  double test = std::numeric_limits<double>::infinity();

  Split of(double time) const {
    return time < val ? Split::kTrain : time < test ? Split::kVal : Split::kTest;
  }
};

Boundaries find_boundaries(std::vector<double> times, const Proportions& proportions) {
  std::sort(times.begin(), times.end());
  Boundaries boundaries;
  const auto start = [&](double fraction, double& boundary) {
    const auto at = static_cast<size_t>(std::llround(fraction * static_cast<double>(times.size())));
    if (at < times.size()) boundary = times[at];
  };
  start(proportions.train, boundaries.val);
  start(proportions.train + proportions.val, boundaries.test);
  return boundaries;
}

Array<uint8_t> stages_of(std::span<const double> times, const Boundaries& boundaries) {
  std::vector<uint8_t> stage;
  stage.reserve(times.size());
  for (const double time : times) stage.push_back(static_cast<uint8_t>(boundaries.of(time)));
  return stage;
}

// Links in the order of their pairs.
struct PairOrder {
  struct Link {
    uint64_t pair;
    int64_t link;
    bool operator<(const Link& other) const {
      return pair != other.pair ? pair < other.pair : link < other.link;
    }
  };
  std::vector<Link> links;

  PairOrder(std::span<const int32_t> source, std::span<const int32_t> target) {
    links.reserve(source.size());
    constexpr int kNodeBits = 32;
    for (size_t i = 0; i < source.size(); ++i) {
      const auto [low, high] = std::minmax(source[i], target[i]);
      links.push_back({static_cast<uint64_t>(low) << kNodeBits | static_cast<uint64_t>(high),
                       static_cast<int64_t>(i)});
    }
    std::sort(links.begin(), links.end());
  }

  // Calls visit(span) with the links of each pair.
  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    for (size_t first = 0; first < links.size();) {
      size_t last = first + 1;
      while (last < links.size() && links[last].pair == links[first].pair) ++last;
      visit(std::span(links).subspan(first, last - first));
      first = last;
    }
  }
};

}  // namespace

Array<uint8_t> random_link_split(std::span<const int32_t> source, std::span<const int32_t> target,
                                 const StringTable& names, const Proportions& proportions,
                                 uint64_t seed) {
  std::vector<uint64_t> hash(static_cast<size_t>(names.size()));
  parallel_for(names.size(), kLinks, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) hash[static_cast<size_t>(u)] = Interner::hash(names[u]);
  });
  std::vector<uint8_t> split(source.size());
  parallel_for(std::ssize(source), kLinks, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      const auto [low, high] =
          std::minmax(hash[static_cast<size_t>(source[i])], hash[static_cast<size_t>(target[i])]);
      const double x = Random(seed, kLinkSplitStream, low, high).uniform();
      const Split part = x < proportions.train      ? Split::kTrain
                         : x < 1 - proportions.test ? Split::kVal
                                                    : Split::kTest;
      split[i] = static_cast<uint8_t>(part);
    }
  });
  return split;
}

Array<uint8_t> time_split(std::span<const double> times, const Proportions& proportions) {
  return stages_of(times, find_boundaries({times.begin(), times.end()}, proportions));
}

FirstTimeSplit first_time_split(std::span<const int32_t> source, std::span<const int32_t> target,
                                std::span<const double> times, const Proportions& proportions) {
  const PairOrder order(source, target);
  const auto first_time = [&](std::span<const PairOrder::Link> links) {
    double first = std::numeric_limits<double>::infinity();
    for (const auto& [pair, link] : links)
      first = std::min(first, times[static_cast<size_t>(link)]);
    return first;
  };
  std::vector<double> first_times;
  order.for_each_pair([&](auto links) { first_times.push_back(first_time(links)); });
  const Boundaries boundaries = find_boundaries(std::move(first_times), proportions);
  FirstTimeSplit result{.stage = stages_of(times, boundaries), .split = {}};
  std::vector<uint8_t> split(result.stage.begin(), result.stage.end());
  order.for_each_pair([&](auto links) {
    const auto first = static_cast<uint8_t>(boundaries.of(first_time(links)));
    for (const auto& [pair, link] : links) {
      uint8_t& part = split[static_cast<size_t>(link)];
      if (part != first) part = static_cast<uint8_t>(Split::kNone);
    }
  });
  result.split = std::move(split);
  return result;
}

}  // namespace lase
