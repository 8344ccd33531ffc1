#include "lase/ingest/format.h"

namespace lase {

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
