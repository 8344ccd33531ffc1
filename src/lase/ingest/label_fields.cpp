#include "lase/ingest/label_fields.h"

#include <limits>
#include <map>

#include "lase/base/error.h"
#include "lase/graph/split.h"

namespace lase {

float target_in(const Row& row, int64_t column) {
  const bool unknown = is_missing(row.text(column));
  return unknown ? std::numeric_limits<float>::quiet_NaN() : row.attribute(column);
}

uint8_t split_in(const Row& row, int64_t column) {
  const auto split = split_from_word(row.text(column));
  if (!split) row.fail(column, "train, val, test or an empty field");
  return static_cast<uint8_t>(*split);
}

void require_one_of(std::initializer_list<std::pair<std::string_view, bool>> given) {
  std::string_view first;
  for (const auto& [option, is_given] : given) {
    if (!is_given) continue;
    require_option(first.empty(), OptionName{first}, " and ", OptionName{option},
                   " are mutually exclusive");
    first = option;
  }
}

void require_split(std::string_view option, const std::string& split, const Table& table) {
  const bool numbers = !split.empty() && !table.find(split) &&
                       split.find_first_not_of("0123456789.,") == std::string::npos;
  require_option(!numbers, OptionName{option}, " ", quote(split),
                 ": write percentages with slashes, such as 60/20/20");
}

std::vector<std::string> label_warnings(const Labels& labels) {
  std::vector<std::string> warnings;
  if (labels.task == Task::kRegression) return warnings;
  std::map<std::string, std::string> by_case;
  for (int64_t c = 0; c < labels.classes(); ++c) {
    const std::string name(labels.names[c]);
    if (is_missing(name)) {
      warnings.push_back(
          join("the label ", quote(name),
               " is a class like any other; leave the field empty if it is unknown"));
    }
    const auto [found, added] = by_case.emplace(lower_case(name), name);
    if (!added) {
      warnings.push_back(join("the labels ", quote(found->second), " and ", quote(name),
                              " differ only by case and are different classes"));
    }
  }
  return warnings;
}

}  // namespace lase
