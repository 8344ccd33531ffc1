#include "lase/base/memory.h"

#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include "support.h"

namespace lase {
namespace {

constexpr double kMegabyte = 1 << 20;

// Bytes that count towards RLIMIT_DATA.
rlim_t data_in_use() {
  std::ifstream in("/proc/self/statm");
  rlim_t pages = 0;
  for (int field = 0; field < 6; ++field) in >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

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
  rlimit previous{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &previous), 0);
  const rlimit low{.rlim_cur = data_in_use() + (rlim_t{100} << 20), .rlim_max = previous.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &low), 0);
  EXPECT_LE(available_memory(), int64_t{100} << 20);
  expect_error([] { require_memory(200 * kMegabyte, "the rows", "choose fewer"); }, {"the rows"});
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &previous), 0);
}

}  // namespace
}  // namespace lase
