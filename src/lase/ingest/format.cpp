#include "lase/ingest/format.h"

#include "lase/base/error.h"

namespace lase {

std::vector<double> Like::numbers(const std::string& key) const {
  std::vector<double> values;
  const auto list = recipe.find(key);
  if (list == recipe.end()) return values;
  require(list->is_array(), "--like: the ", quote(key), " of that graph are no list");
  for (const auto& item : *list) {
    require(item.is_number(), "--like: the ", quote(key), " of that graph are no numbers");
    values.push_back(item.get<double>());
  }
  return values;
}

std::vector<std::unique_ptr<Format>> formats() {
  std::vector<std::unique_ptr<Format>> all;
  all.push_back(make_links_format());
  all.push_back(make_contacts_format());
  all.push_back(make_typed_format());
  all.push_back(make_sets_format());
  all.push_back(make_authors_format());
  all.push_back(make_ogb_format());
  return all;
}

}  // namespace lase
