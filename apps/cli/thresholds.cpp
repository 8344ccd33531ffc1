#include "cli/thresholds.h"

#include <cmath>
#include <fmt/format.h>
#include <ostream>

void print_thresholds(const lase::Objective& objective, std::ostream& out) {
  const lase::Decision& decision = objective.decision();
  constexpr int kShown = 8;
  int shown = 0;
  int more = 0;
  std::string text;
  for (int64_t c = 0; c < objective.outputs(); ++c) {
    const float offset = decision.offset_of(c);
    const bool binary = objective.outputs() == 2;
    if (decision.offset.empty() || (binary ? c != decision.positive : offset == 0)) continue;
    if (shown == kShown) {
      ++more;
      continue;
    }
    ++shown;
    text += fmt::format("{}{} from {:.3g}", text.empty() ? "" : ", ", objective.labels().names[c],
                        1 / (1 + std::exp(-offset)));
  }
  if (text.empty()) return;
  if (more > 0) text += fmt::format(" and {} more", more);
  out << "threshold        " << text << " (tuned on validation data)\n";
}
