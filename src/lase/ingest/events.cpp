#include "lase/ingest/events.h"

#include <array>

#include "lase/base/error.h"

namespace lase {
namespace {

// Statistics of a number.
struct Statistic {
  const char* suffix;
  Merge merge;
};
constexpr std::array kStatistics = {Statistic{"_sum", Merge::kSum},
                                    Statistic{"_mean", Merge::kMean},
                                    Statistic{"_max", Merge::kMax}};
constexpr int64_t kLeading = 3;  // count, first and last time

}  // namespace

bool EventColumns::add(RawAttributes& attributes, int64_t row, double time,
                       std::span<const float> numbers, std::span<const int32_t> codes) const {
  int32_t at = 0;
  const auto append = [&](float value) { attributes.add_value(at++, value); };
  append(1);
  append(slices_.position(time));
  append(slices_.position(time));
  for (const float number : numbers) {
    for (size_t i = 0; i < kStatistics.size(); ++i) append(number);
  }
  const auto first_encoded = int64_t{at} - encoder_.numbers();
  encoder_.for_each(row, numbers, codes, [&](int64_t column, float value) {
    if (column < encoder_.numbers()) return;
    attributes.add_value(static_cast<int32_t>(first_encoded + column), value);
  });
  const int32_t slice = slices_.of(time);
  if (slice >= 0) {
    int64_t column = at + encoded() + slice;
    attributes.add_value(static_cast<int32_t>(column), 1);
    for (const float number : numbers) {
      column += slices_.count();
      attributes.add_value(static_cast<int32_t>(column), number);
    }
  }
  attributes.end_row();
  return slice >= 0;
}

std::vector<std::string> EventColumns::names() const {
  const auto columns = encoder_.names();
  const auto numbers = static_cast<size_t>(encoder_.numbers());
  std::vector<std::string> names = {"count", time_ + "_first", time_ + "_last"};
  for (size_t j = 0; j < numbers; ++j) {
    for (const auto& statistic : kStatistics) names.push_back(columns[j] + statistic.suffix);
  }
  names.insert(names.end(), columns.begin() + static_cast<int64_t>(numbers), columns.end());
  const auto slices = slices_.names();
  names.insert(names.end(), slices.begin(), slices.end());
  for (size_t j = 0; j < numbers; ++j) {
    for (const auto& slice : slices) names.push_back(join(columns[j], " ", slice));
  }
  return names;
}

std::vector<int64_t> EventColumns::of_column(const std::string& name) const {
  std::vector<int64_t> attributes;
  const auto add = [&](int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) attributes.push_back(i);
  };
  const int64_t numbers = encoder_.numbers();
  const int64_t first_encoded = kLeading + numbers * std::ssize(kStatistics);
  const int64_t first_slice = first_encoded + encoded();
  if (name == time_) {
    add(1, kLeading - 1);
    add(first_slice, slices_.count() * (1 + numbers));
  }
  for (const int64_t column : encoder_.columns_of(name)) {
    if (column >= numbers) {
      add(first_encoded + column - numbers, 1);
    } else {
      add(kLeading + column * std::ssize(kStatistics), std::ssize(kStatistics));
      add(first_slice + (1 + column) * slices_.count(), slices_.count());
    }
  }
  return attributes;
}

std::vector<ColumnRule> EventColumns::rules(Transform transform) const {
  const bool increases = slices_.position_increases();
  std::vector<ColumnRule> rules = {{Merge::kSum, transform},
                                   {increases ? Merge::kMin : Merge::kMax},
                                   {increases ? Merge::kMax : Merge::kMin}};
  for (int64_t j = 0; j < encoder_.numbers(); ++j) {
    for (const auto& statistic : kStatistics) rules.push_back({statistic.merge, transform});
  }
  rules.resize(names().size(), {Merge::kSum, transform});
  return rules;
}

StringTable encoded_event_columns(const StringTable& names, int64_t slices) {
  StringTableBuilder encoded;
  const std::string_view suffix = kStatistics[0].suffix;
  int64_t at = kLeading;
  int64_t numbers = 0;
  for (; at < names.size() && names[at].ends_with(suffix); at += std::ssize(kStatistics)) {
    encoded.add(names[at].substr(0, names[at].size() - suffix.size()));
    ++numbers;
  }
  const int64_t end = names.size() - slices * (1 + numbers);
  for (; at < end; ++at) encoded.add(names[at]);
  return encoded.finish();
}

}  // namespace lase
