// Links of several kinds: source, target, relation; a link has one weight for each relation.

#include <memory>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/interner.h"
#include "lase/ingest/format.h"
#include "lase/ingest/link_file.h"

namespace lase {
namespace {

struct Payload {
  std::vector<std::string_view> relation;
  std::vector<float> weight;
};

class TypedFormat : public Format {
 public:
  std::string name() const override { return "typed"; }
  std::string summary() const override { return "links of several relations"; }

  void declare(Flags& flags) override {
    file_.declare(flags);
    flags.text(
        "--relation", relation_,
        "column with the relation; empty: a link without any (default: 'relation', or the third)");
    flags.text("--weight", weight_,
               "column with the weight of a relation (default: 'weight', the fourth without a "
               "header, or 1 each)");
    flags.text("--relations", relations_,
               "file that lists the relations, one a line, in the order of the attributes "
               "(default: as they appear)");
    rules_.declare(flags, false);
  }

  RawGraph read(const Like* like) const override;

 private:
  LinkFile file_;
  std::string relation_;
  std::string weight_;
  std::string relations_;
  LinkRuleWords rules_;
};

RawGraph TypedFormat::read(const Like* like) const {
  RawGraph graph;
  graph.rules = rules_.finish();
  graph.layout_rule = rules_.layout_rule(LayoutRule::kAsRead);
  NodeReader nodes(file_.nodes, file_.table, like);
  const Table table(file_.path, file_.table, {file_.source, file_.target, relation_, weight_});
  ColumnRoles roles(table, {file_.source, file_.target, relation_, weight_});
  const int64_t source = roles.source(file_);
  const int64_t target = roles.target(file_);
  const int64_t relation = roles.choose(relation_, "--relation", {"relation", "type", "kind"});
  const int64_t weight = roles.weight(weight_);
  Interner relations;
  if (!relations_.empty()) {
    for (const auto& line : read_lines(relations_)) relations.add(line);
  }
  const bool fixed = like != nullptr;
  if (fixed) {
    for (int64_t i = 0; i < like->attribute_names.size(); ++i) {
      relations.add(like->attribute_names[i]);
    }
  }
  int64_t unseen = 0;
  const auto parse = [&](Payload& payload, const Row& row) {
    payload.relation.push_back(row.text(relation));
    if (weight < 0) return;
    payload.weight.push_back(row.text(relation).empty() ? 0 : row.attribute(weight));
  };
  const auto add = [&](const Payload& payload, size_t i) {
    const auto name = payload.relation[i];
    const bool known = !fixed || relations.find(name).has_value();
    unseen += known || name.empty() ? 0 : 1;
    if (name.empty() || !known) {
      graph.attributes.add_empty();
    } else {
      graph.attributes.add_single(relations.add(name), weight < 0 ? 1.0F : payload.weight[i]);
    }
  };
  graph.attributes.layout = Layout::kSparse;
  read_links<Payload>(table, source, target, nodes, graph, parse, add);
  graph.attributes.columns = relations.size();
  graph.attribute_names = relations.finish();
  if (unseen > 0) {
    graph.notes.push_back(join(unseen, " rows have relations that are not in the graph of --like"));
  }
  nodes.finish(graph);
  return graph;
}

}  // namespace

std::unique_ptr<Format> make_typed_format() { return std::make_unique<TypedFormat>(); }

}  // namespace lase
