#include "common/closest.h"

#include <gtest/gtest.h>

namespace {

TEST(DidYouMean, NamesTheMostSimilarCandidate) {
  const std::vector<std::string> commands = {"train", "tune", "evaluate", "predict", "explain"};
  EXPECT_EQ(did_you_mean("tran", commands), "; did you mean train?");
  EXPECT_EQ(did_you_mean("tarin", commands), "; did you mean train?");
  EXPECT_EQ(did_you_mean("pred", commands), "; did you mean predict?");
  EXPECT_EQ(did_you_mean("explian", commands), "; did you mean explain?");
  EXPECT_EQ(did_you_mean("download", commands), "");
  EXPECT_EQ(did_you_mean("", commands), "");
  EXPECT_EQ(did_you_mean(std::string(1000, 'x'), commands), "");
}

TEST(DidYouMean, ComparesFlags) {
  const std::vector<std::string> flags = {"--learning-rate", "--epochs", "--seed"};
  EXPECT_EQ(did_you_mean("--learning", flags), "; did you mean --learning-rate?");
  EXPECT_EQ(did_you_mean("--learning_rate", flags), "; did you mean --learning-rate?");
  EXPECT_EQ(did_you_mean("--epoch", flags), "; did you mean --epochs?");
  EXPECT_EQ(did_you_mean("--x", flags), "");
}

}  // namespace
