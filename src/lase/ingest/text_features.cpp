#include "lase/ingest/text_features.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/interner.h"
#include "lase/ingest/table.h"

namespace lase {
namespace {

template <class Visit>
void for_each_word(std::string_view text, const Visit& visit) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0;
  };
  const std::string lower = lower_case(text);
  for (size_t at = 0; at < lower.size();) {
    size_t end = at;
    while (end < lower.size() && is_letter(lower[end])) ++end;
    if (end - at >= 2) visit(std::string_view(lower).substr(at, end - at));
    at = end + 1;
  }
}

// Terms with their idf weights, in column order.
struct Terms {
  Interner words;
  std::vector<double> idf;
};

Terms fit_terms(const StringTable& texts, const Array<uint8_t>& split, int64_t min_count) {
  Interner words;
  std::vector<int64_t> frequency;  // df
  std::vector<int64_t> last_text;  // last text that counted the word
  int64_t n = 0;
  for (int64_t i = 0; i < texts.size(); ++i) {
    if (!split.empty() && split[i] != static_cast<uint8_t>(Split::kTrain)) continue;
    ++n;
    for_each_word(texts[i], [&](std::string_view word) {
      const auto id = static_cast<size_t>(words.add(word));
      if (id == frequency.size()) {
        frequency.push_back(0);
        last_text.push_back(-1);
      }
      if (last_text[id] != i) ++frequency[id];
      last_text[id] = i;
    });
  }
  Terms terms;
  for (size_t id = 0; id < frequency.size(); ++id) {
    if (frequency[id] < min_count) continue;
    terms.words.add(words[static_cast<int64_t>(id)]);
    terms.idf.push_back(
        std::log(static_cast<double>(1 + n) / static_cast<double>(1 + frequency[id])) + 1);
  }
  return terms;
}

Terms terms_of(const Schema& schema, const std::string& prefix) {
  require(schema.preprocessing.contains("idf"), OptionName{"text"},
          ": the earlier graph has no text features");
  Terms terms;
  terms.idf = schema.numbers("idf");
  for (int64_t i = 0; i < schema.feature_names.size(); ++i) {
    const auto name = schema.feature_names[i];
    if (name.starts_with(prefix)) terms.words.add(name.substr(prefix.size()));
  }
  require(terms.words.size() == static_cast<int64_t>(terms.idf.size()), OptionName{"text"},
          ": the earlier graph has ", terms.idf.size(), " weights for ", terms.words.size(),
          " terms of ", quote(prefix));
  return terms;
}

}  // namespace

TextFeatures tf_idf(const StringTable& texts, const Array<uint8_t>& split,
                    const std::string& column, int64_t min_count, const Schema* schema) {
  const std::string prefix = column + ":";
  const Terms terms =
      schema != nullptr ? terms_of(*schema, prefix) : fit_terms(texts, split, min_count);
  Buffer<int64_t> row_ptr;
  Buffer<int32_t> columns;
  Buffer<float> values;
  row_ptr.push_back(0);
  for (int64_t i = 0; i < texts.size(); ++i) {
    std::map<int32_t, double> row;
    for_each_word(texts[i], [&](std::string_view word) {
      if (const auto id = terms.words.find(word)) row[*id] += terms.idf[static_cast<size_t>(*id)];
    });
    double squares = 0;
    for (const auto& [id, value] : row) squares += value * value;
    for (const auto& [id, value] : row) {
      columns.push_back(id);
      values.push_back(static_cast<float>(value / std::sqrt(squares)));
    }
    row_ptr.push_back(values.size());
  }
  TextFeatures result;
  result.features = {.layout = Layout::kSparse,
                     .rows = texts.size(),
                     .columns = terms.words.size(),
                     .values = values.freeze(),
                     .row_ptr = row_ptr.freeze(),
                     .column = columns.freeze(),
                     .code = {}};
  StringTableBuilder names;
  for (int64_t i = 0; i < terms.words.size(); ++i) names.add(join(prefix, terms.words[i]));
  result.names = names.finish();
  result.idf = terms.idf;
  return result;
}

}  // namespace lase
