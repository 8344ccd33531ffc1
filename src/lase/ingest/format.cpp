#include "lase/ingest/format.h"

#include <algorithm>
#include <type_traits>

namespace lase {
namespace {

template <class Options>
using Read = RawGraph (*)(const Options&, const Schema*);

template <class Options>
class ImportOf : public Import {
 public:
  ImportOf(const OptionTable<Options>& table, Read<Options> reader)
      : table_(table), reader_(reader) {}
  BoundOptions options() override { return table_.bind(options_); }
  RawGraph read(const Schema* schema) const override { return reader_(options_, schema); }

 private:
  const OptionTable<Options>& table_;
  Read<Options> reader_;
  Options options_;
};

template <class Options>
Format format(std::string name, std::string summary, const OptionTable<Options>& table,
              Read<std::type_identity_t<Options>> reader) {
  return {std::move(name), std::move(summary),
          [&table, reader] { return std::make_unique<ImportOf<Options>>(table, reader); }};
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      format("links", "Import links with attribute columns", links_option_table(), read_links),
      format("contacts", "Import contacts over time, counted per time slice",
             contacts_option_table(), read_contacts),
      format("typed", "Import links of several relations", typed_option_table(), read_typed),
      format("sets", "Import items that are linked by the members they share", sets_option_table(),
             read_sets),
      format("authors", "Import the data files published by the paper's authors",
             authors_option_table(), read_authors),
      format("ogb", "Import a data set in OGB's raw CSV layout", ogb_option_table(), read_ogb),
      format("hgb", "Import a data set of the Heterogeneous Graph Benchmark", hgb_option_table(),
             read_hgb),
  };
  return all;
}

const Format& format_named(const std::string& name) {
  const auto found = std::find_if(formats().begin(), formats().end(),
                                  [&](const Format& each) { return each.name == name; });
  require(found != formats().end(), "unknown import format ", quote(name));
  return *found;
}

}  // namespace lase
