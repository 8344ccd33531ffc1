#include "lase/ingest/categories.h"

#include "lase/base/error.h"

namespace lase {

ColumnEncoder::ColumnEncoder(std::vector<std::string> numbers, std::vector<std::string> categories,
                             const StringTable* fixed_names)
    : numbers_(std::move(numbers)),
      categories_(std::move(categories)),
      values_(categories_.size()),
      fixed_(fixed_names != nullptr) {
  if (!fixed_) return;
  // Same order as names(): first the numeric columns, then the values of each category.
  int64_t at = this->numbers();
  for (size_t c = 0; c < categories_.size(); ++c) {
    const std::string prefix = categories_[c] + "=";
    for (; at < fixed_names->size() && (*fixed_names)[at].starts_with(prefix); ++at) {
      values_[c].add((*fixed_names)[at].substr(prefix.size()));
    }
  }
}

int32_t ColumnEncoder::code(int64_t c, std::string_view value) {
  auto& values = values_[static_cast<size_t>(c)];
  if (!fixed_) return values.add(value);
  const auto known = values.find(value);
  if (!known) ++unseen_;
  return known.value_or(-1);
}

int64_t ColumnEncoder::width() const { return column_of(categories(), 0); }

int64_t ColumnEncoder::column_of(int64_t c, int32_t code) const {
  int64_t column = numbers();
  for (int64_t i = 0; i < c; ++i) column += values_[static_cast<size_t>(i)].size();
  return column + code;
}

std::vector<std::string> ColumnEncoder::names() const {
  std::vector<std::string> names = numbers_;
  for (size_t c = 0; c < categories_.size(); ++c) {
    for (int64_t i = 0; i < values_[c].size(); ++i) {
      names.push_back(join(categories_[c], "=", values_[c][i]));
    }
  }
  return names;
}

}  // namespace lase
