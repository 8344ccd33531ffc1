// Contacts over time: source, target, time; each link counts its contacts per time slice.

#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/ingest/link_file.h"
#include "lase/ingest/time_slices.h"

namespace lase {
namespace {

struct ContactPayload {
  std::vector<double> time;
  std::vector<float> weight;
};

}  // namespace

const OptionTable<ContactsOptions>& contacts_option_table() {
  static const auto table = [] {
    using O = ContactsOptions;
    OptionTable<O> all;
    all.include(link_table_option_table(Merging::kAlways));
    all.add(
        "time", &O::time, any(),
        "Column with times in seconds since 1970 or as ISO 8601 dates (default: a column with a "
        "common name such as time, timestamp or date, else the third)");
    all.add("weight", &O::weight, any(),
            "Column with the weight of each contact; with none, every weight is 1 (default: a "
            "column named "
            "weight, amount or count; without a header, the fourth column if there is one)");
    all.include(slice_option_table(), &O::slices);
    all.group("Attributes");
    return all;
  }();
  return table;
}

static RawGraph read_contact_table(const ContactsOptions& options, const Schema* schema) {
  contacts_option_table().check(options);
  RawGraph graph = empty_graph(options, LayoutRule::kSmaller);
  graph.rules.transform = options.slices.counts;
  NodeReader nodes(options.nodes, options.table, schema);
  Table table(options.file, options.table, named_columns(options, {options.time, options.weight}));
  require_typed_columns(options.table, table, nodes.typed_columns());
  LinkTargetReader targets(options, table, schema);
  auto wanted = link_roles(options, targets);
  wanted.push_back(time_role(options.time));
  wanted.push_back(weight_role(options.weight));
  const ColumnRoles roles(table, wanted);
  targets.assign(roles);
  graph.tables.push_back(roles.report());
  const int64_t time = roles.at("time");
  const int64_t weight = roles.at("weight");
  std::vector<double> times;
  std::vector<float> weights;
  const auto parse = [&](ContactPayload& payload, const Row& row) {
    payload.time.push_back(row.time(time));
    if (weight < 0) return;
    const float value = row.weight(weight);
    if (value < 0) row.fail(weight, "a non-negative weight");
    payload.weight.push_back(value);
  };
  const auto add = [&](const ContactPayload& payload, size_t i) {
    times.push_back(payload.time[i]);
    weights.push_back(weight < 0 ? 1.0F : payload.weight[i]);
  };
  read_link_rows<ContactPayload>(table, {roles, nodes, targets, graph}, parse, add);
  const TimeSlices slices(options.slices, times, options.file, schema);
  graph.attributes.layout = Layout::kSparse;
  graph.attributes.columns = slices.count();
  int64_t outside = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const int32_t slice = slices.of(times[i]);
    if (slice >= 0) {
      graph.attributes.add_single(slice, weights[i]);
    } else {
      ++outside;
      graph.attributes.add_empty();
    }
  }
  graph.attribute_names = make_string_table(slices.names());
  slices.store(graph.preprocessing);
  slices.report(graph, std::ssize(times), outside);
  nodes.finish(graph);
  targets.finish(graph);
  if (graph.targets && (targets.is_label(time) || targets.is_label(weight))) {
    graph.targets->label_columns = all_columns(graph.attributes);
  }
  return graph;
}

RawGraph read_contacts(const ContactsOptions& options, const Schema* schema) {
  return read_contact_table(like_earlier(options, schema), schema);
}

}  // namespace lase
