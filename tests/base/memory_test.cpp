#include "lase/base/memory.h"

#include "support.h"

namespace lase {
namespace {

constexpr double kMegabyte = 1 << 20;

TEST(Memory, IsPositiveAndSmallerThanTheAddressSpace) {
  EXPECT_GT(available_memory(), int64_t{1} << 20);
  EXPECT_LT(available_memory(), int64_t{1} << 47);
}

TEST(Memory, RejectsAnAllocationThatDoesNotFit) {
  EXPECT_NO_THROW(require_memory(kMegabyte, "small arrays", "nothing"));
  expect_error([] { require_memory(1e18, "the rows", "set ", OptionName{"layout"}, " to sparse"); },
               {"the rows need", "of memory, but only", "are available; set layout to sparse"});
}

TEST(Memory, RespectsTheLimitOfTheProcess) {
  const MemoryLimit limit(100 << 20);
  EXPECT_LE(available_memory(), int64_t{101} << 20);
  expect_error([] { require_memory(200 * kMegabyte, "the rows", "choose fewer"); }, {"the rows"});
}

}  // namespace
}  // namespace lase
