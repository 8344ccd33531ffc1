#include "cli/fanout.h"

#include <charconv>
#include <sstream>

#include "lase/base/error.h"
#include "lase/sampler/sampler.h"

std::vector<int64_t> parse_fanout(const std::string& text) {
  std::vector<int64_t> fanout;
  lase::require(!text.empty() && text.back() != ',', "--fanout ", lase::quote(text),
                ": expected positive numbers or 'all', such as 10,10");
  std::stringstream parts(text);
  std::string part;
  while (std::getline(parts, part, ',')) {
    int64_t value = lase::kWholeNeighborhood;
    if (part != "all") {
      const char* end = part.data() + part.size();
      const auto parsed = std::from_chars(part.data(), end, value);
      lase::require(parsed.ec == std::errc() && parsed.ptr == end && value > 0, "--fanout ",
                    lase::quote(text), ": expected positive numbers or 'all', such as 10,10");
    }
    fanout.push_back(value);
  }
  return fanout;
}
