#include "common/closest.h"

#include <algorithm>
#include <cstdint>

namespace {

// The number of insertions, deletions, replacements and swaps of neighboring characters that turn
// one word into the other (optimal string alignment).
int64_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int64_t>> d(a.size() + 1, std::vector<int64_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = static_cast<int64_t>(i);
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 64;  // longer words are no misspelled names
  constexpr size_t kPrefix = 3;    // characters that may stand for a whole word
  if (word.size() > kLongest) return "";
  const std::string* best = nullptr;
  auto fewest = std::max<int64_t>(1, static_cast<int64_t>(word.size()) / 3) + 1;
  const auto letters = [](std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
    return text;
  };
  for (const auto& candidate : candidates) {
    const bool begins =
        letters(word).size() >= kPrefix && letters(candidate).starts_with(letters(word));
    const int64_t edits = begins ? 1 : edit_distance(word, candidate);
    if (edits >= fewest) continue;
    fewest = edits;
    best = &candidate;
  }
  return best == nullptr ? "" : "; did you mean " + *best + "?";
}
