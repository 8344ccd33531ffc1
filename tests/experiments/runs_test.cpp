#include "experiments/runs.h"

#include <atomic>
#include <filesystem>
#include <gtest/gtest.h>

#include "lase/base/file.h"
#include "lase/base/parallel.h"

#include "experiments/statistics.h"
#include "support.h"

namespace lase {
namespace {

using nlohmann::json;

class RunsTest : public FolderTest {
 protected:
  std::vector<lase::Run> runs(int64_t count) {
    std::vector<lase::Run> all;
    for (int64_t i = 0; i < count; ++i) {
      lase::Run run;
      run.key = {{"number", i}};
      run.label = "run";
      run.cost = static_cast<double>(i);
      run.work = [this, i](const std::atomic<bool>*) {
        ++worked;
        EXPECT_EQ(thread_count(), 1);
        return json{{"square", i * i}};
      };
      all.push_back(std::move(run));
    }
    return all;
  }
  std::atomic<int> worked{0};
};

TEST_F(RunsTest, ReturnsResultsInTheOrderOfTheRuns) {
  const auto results = run_all(runs(20), {.folder = "", .threads = 3});
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(results[static_cast<size_t>(i)].at("square"), i * i);
  EXPECT_EQ(worked, 20);
}

TEST_F(RunsTest, ReusesCachedRuns) {
  run_all(runs(5), {.folder = path("kept"), .threads = 2});
  EXPECT_EQ(worked, 5);
  int64_t found = -1;
  const auto results = run_all(
      runs(8), {.folder = path("kept"), .threads = 2, .progress = [&](const auto& progress) {
                  found = progress.found;
                }});
  EXPECT_EQ(worked, 8);
  EXPECT_EQ(found, 5);
  EXPECT_EQ(results[4].at("square"), 16);
}

TEST_F(RunsTest, RepeatsRunsWhoseCacheIsUnreadable) {
  run_all(runs(3), {.folder = path("kept"), .threads = 1});
  for (const auto& entry : std::filesystem::directory_iterator(path("kept"))) {
    write_file(entry.path().string(), "{ broken");
  }
  const auto results = run_all(runs(3), {.folder = path("kept"), .threads = 1});
  EXPECT_EQ(worked, 6);
  EXPECT_EQ(results[2].at("square"), 4);
}

TEST_F(RunsTest, KeepsRunsFinishedBeforeAStop) {
  std::atomic<bool> stop{false};
  auto some = runs(6);
  some[0].work = [&](const std::atomic<bool>*) {
    stop = true;  // the result of this run is discarded
    return json{{"square", 0}};
  };
  some[0].cost = 3.5;  // after three others
  EXPECT_THROW(run_all(some, {.folder = path("kept"), .threads = 1, .progress = {}, .stop = &stop}),
               Stopped);
  const int before = worked;
  EXPECT_EQ(before, 2);
  run_all(runs(6), {.folder = path("kept"), .threads = 1});
  EXPECT_EQ(worked, before + 4);
}

TEST_F(RunsTest, PropagatesErrors) {
  auto some = runs(3);
  some[1].work = [](const std::atomic<bool>*) -> json { throw std::runtime_error("bad"); };
  EXPECT_THROW(run_all(some, {.folder = "", .threads = 2}), std::runtime_error);
}

TEST(MeanAndError, MatchesAHandComputation) {
  const auto found = mean_and_error({1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(found.mean, 3);
  EXPECT_DOUBLE_EQ(found.error, std::sqrt(14.0 / 3 / 4));
  EXPECT_EQ(mean_and_error({5}).error, 0);
  EXPECT_EQ(mean_and_error({}).count, 0);
}

}  // namespace
}  // namespace lase
