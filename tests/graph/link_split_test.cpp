#include <algorithm>
#include <map>
#include <numeric>

#include "lase/base/random.h"
#include "lase/graph/split.h"

#include "support.h"

namespace lase {
namespace {

using Nodes32 = std::vector<int32_t>;

constexpr auto kTrainPart = static_cast<uint8_t>(Split::kTrain);
constexpr auto kValPart = static_cast<uint8_t>(Split::kVal);
constexpr auto kTestPart = static_cast<uint8_t>(Split::kTest);
constexpr auto kNoPart = static_cast<uint8_t>(Split::kNone);

struct RandomLinks {
  Nodes32 source, target;
  std::vector<double> time;
  StringTable names;
};

// Few nodes, so that most pairs have several links in both directions.
RandomLinks random_links(int64_t n, int32_t nodes) {
  RandomLinks links;
  Random random(7);
  for (int64_t i = 0; i < n; ++i) {
    links.source.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes))));
    links.target.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes))));
    links.time.push_back(static_cast<double>(random.below(static_cast<uint64_t>(n) / 4)));
  }
  links.names = numbered_names("node ", nodes);
  return links;
}

std::pair<int32_t, int32_t> pair_of(const RandomLinks& links, size_t i) {
  return std::minmax(links.source[i], links.target[i]);
}

TEST(RandomLinkSplit, KeepsTheLinksOfAPairTogether) {
  const auto links = random_links(20000, 100);
  const auto split = random_link_split(links.source, links.target, links.names, {.7, .1, .2}, 1);
  std::map<std::pair<int32_t, int32_t>, uint8_t> by_pair;
  std::map<uint8_t, double> pairs;
  for (size_t i = 0; i < links.source.size(); ++i) {
    const auto part = split[static_cast<int64_t>(i)];
    const auto [known, added] = by_pair.emplace(pair_of(links, i), part);
    EXPECT_EQ(known->second, part);
    if (added) ++pairs[part];
  }
  const auto all = static_cast<double>(by_pair.size());
  EXPECT_NEAR(pairs[kTrainPart] / all, .7, .03);
  EXPECT_NEAR(pairs[kValPart] / all, .1, .02);
  EXPECT_NEAR(pairs[kTestPart] / all, .2, .03);
}

TEST(RandomLinkSplit, DependsOnNamesAndSeedOnly) {
  const auto links = random_links(1000, 100);
  const Proportions proportions{.5, .2, .3};
  const auto split = random_link_split(links.source, links.target, links.names, proportions, 1);
  // The same links in reverse order and direction, with nodes numbered differently.
  Strings names;
  for (int u = 99; u >= 0; --u) names.push_back(join("node ", u));
  Nodes32 source, target;
  for (size_t i = links.source.size(); i-- > 0;) {
    source.push_back(99 - links.target[i]);
    target.push_back(99 - links.source[i]);
  }
  const auto other = random_link_split(source, target, make_string_table(names), proportions, 1);
  const int64_t n = split.size();
  for (int64_t i = 0; i < n; ++i) EXPECT_EQ(split[i], other[n - 1 - i]);
  const auto seeded = random_link_split(links.source, links.target, links.names, proportions, 2);
  EXPECT_FALSE(std::equal(split.begin(), split.end(), seeded.begin()));
}

TEST(RandomLinkSplit, LeavesOutSplitsWithoutAProportion) {
  const auto links = random_links(5000, 200);
  for (const auto& [proportions, part] :
       {std::pair{Proportions{.8, 0, .2}, kValPart}, {Proportions{.8, .2, 0}, kTestPart}}) {
    const auto split = random_link_split(links.source, links.target, links.names, proportions, 1);
    EXPECT_EQ(std::count(split.begin(), split.end(), part), 0);
  }
}

TEST(TimeSplit, OrdersSplitsByTime) {
  const auto links = random_links(2000, 50);
  const auto split = time_split(links.time, {.7, .1, .2});
  std::map<uint8_t, std::vector<double>> times;
  for (size_t i = 0; i < links.time.size(); ++i) {
    times[split[static_cast<int64_t>(i)]].push_back(links.time[i]);
  }
  const auto first = [&](uint8_t part) {
    return *std::min_element(times[part].begin(), times[part].end());
  };
  const auto last = [&](uint8_t part) {
    return *std::max_element(times[part].begin(), times[part].end());
  };
  EXPECT_LT(last(kTrainPart), first(kValPart));
  EXPECT_LT(last(kValPart), first(kTestPart));
  EXPECT_NEAR(static_cast<double>(times[kTrainPart].size()), 1400, 20);
  EXPECT_NEAR(static_cast<double>(times[kValPart].size()), 200, 20);
}

TEST(TimeSplit, KeepsEqualTimesTogether) {
  const std::vector<double> times = {5, 1, 2, 2, 2, 2, 3, 4};
  const auto split = time_split(times, {.5, .25, .25});
  EXPECT_EQ(std::vector<uint8_t>(split.begin(), split.end()),
            (std::vector<uint8_t>{kTestPart, kTrainPart, kValPart, kValPart, kValPart, kValPart,
                                  kValPart, kTestPart}));
  const auto all = time_split(times, {1, 0, 0});
  EXPECT_EQ(std::count(all.begin(), all.end(), kTrainPart), 8);
}

TEST(FirstTimeSplit, PredictsOnlyPairsThatNoEarlierSplitLinks) {
  // Pairs and first times: ab 1, cd 2, ef 3, gh 4. The boundaries are 3 and 4.
  const Nodes32 source = {0, 2, 4, 6, 1, 7, 2, 4};
  const Nodes32 target = {1, 3, 5, 7, 0, 6, 3, 5};
  const std::vector<double> times = {1, 2, 3, 4, 3, 5, 2.5, 9};
  const auto [stage, split] = first_time_split(source, target, times, {.5, .25, .25});
  EXPECT_EQ(std::vector<uint8_t>(stage.begin(), stage.end()),
            (std::vector<uint8_t>{kTrainPart, kTrainPart, kValPart, kTestPart, kValPart, kTestPart,
                                  kTrainPart, kTestPart}));
  EXPECT_EQ(std::vector<uint8_t>(split.begin(), split.end()),
            (std::vector<uint8_t>{kTrainPart, kTrainPart, kValPart, kTestPart, kNoPart, kTestPart,
                                  kTrainPart, kNoPart}));
}

TEST(FirstTimeSplit, MatchesADirectComputation) {
  const auto links = random_links(3000, 60);
  const auto [stage, split] =
      first_time_split(links.source, links.target, links.time, {.7, .1, .2});
  std::map<std::pair<int32_t, int32_t>, uint8_t> first_stage;
  for (size_t i = 0; i < links.source.size(); ++i) {
    const auto part = stage[static_cast<int64_t>(i)];
    const auto known = first_stage.emplace(pair_of(links, i), part).first;
    known->second = std::min(known->second, part);
    for (size_t j = 0; j < i; j += 97) {
      if (links.time[j] > links.time[i]) continue;
      EXPECT_LE(stage[static_cast<int64_t>(j)], part);
    }
  }
  int64_t repeated = 0;
  for (size_t i = 0; i < links.source.size(); ++i) {
    const auto part = stage[static_cast<int64_t>(i)];
    const bool predicted = part == first_stage.at(pair_of(links, i));
    EXPECT_EQ(split[static_cast<int64_t>(i)], predicted ? part : kNoPart);
    repeated += predicted ? 0 : 1;
  }
  EXPECT_GT(repeated, 100);
  std::map<uint8_t, int> pairs;
  for (const auto& [pair, part] : first_stage) ++pairs[part];
  EXPECT_NEAR(pairs[kTrainPart] / static_cast<double>(first_stage.size()), .7, .02);
}

}  // namespace
}  // namespace lase
