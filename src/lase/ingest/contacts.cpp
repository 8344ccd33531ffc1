// Contacts over time: source, target, time; each link counts its contacts per time slice.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/ingest/format.h"
#include "lase/ingest/link_file.h"

namespace lase {
namespace {

struct Payload {
  std::vector<double> time;
  std::vector<float> weight;
};

class ContactsFormat : public Format {
 public:
  std::string name() const override { return "contacts"; }
  std::string summary() const override { return "contacts over time, counted in time slices"; }

  void declare(Flags& flags) override {
    file_.declare(flags);
    flags.text("--time", time_, "column with seconds or ISO dates (default: 'time', or the third)");
    flags.text("--weight", weight_,
               "column with the weight of a contact (default: 'weight', the fourth without a "
               "header, or 1 each)");
    flags.number("--slices", slices_, "number of time slices");
    flags.choice("--slicing", {"width", "quantile"}, slicing_,
                 "slices of equal width, or with equally many contacts");
    flags.choice("--counts", {"log1p", "raw", "binary"}, counts_,
                 "what becomes of the counts of a slice: ln(1 + count), the count, or whether any");
    rules_.declare(flags, false);
  }

  RawGraph read(const Like* like) const override;

 private:
  std::vector<double> slice_edges(const std::vector<double>& times, const Like* like) const;

  LinkFile file_;
  std::string time_;
  std::string weight_;
  int64_t slices_ = 32;
  std::string slicing_ = "width";
  std::string counts_ = "log1p";
  LinkRuleWords rules_;
};

// slices + 1 ascending times; slice i holds [edge i, edge i+1), the last one its end too.
std::vector<double> ContactsFormat::slice_edges(const std::vector<double>& times,
                                                const Like* like) const {
  if (like != nullptr) {
    auto edges = like->numbers("slice_edges");
    require(edges.size() >= 2, "--like: that graph was not imported from contacts");
    return edges;
  }
  std::vector<double> edges;
  if (slicing_ == "quantile") {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < slices_; ++i) {
      edges.push_back(
          sorted[static_cast<size_t>(i) * sorted.size() / static_cast<size_t>(slices_)]);
    }
    edges.push_back(sorted.back());
    return edges;
  }
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  require(std::isfinite(*last - *first), file_.path, ": has times from ", *first, " to ", *last,
          ", too far apart for slices of equal width");
  for (int64_t i = 0; i <= slices_; ++i) {
    edges.push_back(*first +
                    (*last - *first) * static_cast<double>(i) / static_cast<double>(slices_));
  }
  return edges;
}

// The slice of a time, or −1 where it lies outside all of them.
int32_t slice_of(double time, const std::vector<double>& edges) {
  if (time < edges.front() || time > edges.back()) return -1;
  const auto above = std::upper_bound(edges.begin() + 1, edges.end() - 1, time);
  return static_cast<int32_t>(above - (edges.begin() + 1));
}

RawGraph ContactsFormat::read(const Like* like) const {
  constexpr int64_t kMostSlices = 1 << 20;
  require(slices_ >= 1 && slices_ <= kMostSlices, "--slices ", slices_, ": expected 1 to ",
          kMostSlices);
  RawGraph graph;
  graph.rules = rules_.finish();
  graph.layout_rule = rules_.layout_rule(LayoutRule::kSmaller);
  const std::map<std::string, Transform> transforms = {
      {"log1p", Transform::kLog1p}, {"raw", Transform::kRaw}, {"binary", Transform::kBinary}};
  graph.rules.transform = transforms.at(counts_);
  NodeReader nodes(file_.nodes, file_.table, like);
  const Table table(file_.path, file_.table, {file_.source, file_.target, time_, weight_});
  ColumnRoles roles(table, {file_.source, file_.target, time_, weight_});
  const int64_t source = roles.source(file_);
  const int64_t target = roles.target(file_);
  const int64_t time = roles.choose(time_, "--time", {"time", "timestamp", "date", "seconds"});
  const int64_t weight = roles.weight(weight_);
  std::vector<double> times;
  std::vector<float> weights;
  const auto parse = [&](Payload& payload, const Row& row) {
    payload.time.push_back(row.time(time));
    if (weight < 0) return;
    const float value = row.attribute(weight);
    if (value < 0) row.fail(weight, "a weight that is not negative");
    payload.weight.push_back(value);
  };
  const auto add = [&](const Payload& payload, size_t i) {
    times.push_back(payload.time[i]);
    weights.push_back(weight < 0 ? 1.0F : payload.weight[i]);
  };
  read_links<Payload>(table, source, target, nodes, graph, parse, add);
  require(!times.empty(), file_.path, ": has no contacts");

  const auto edges = slice_edges(times, like);
  graph.attributes.layout = Layout::kSparse;
  graph.attributes.columns = static_cast<int64_t>(edges.size()) - 1;
  int64_t outside = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const int32_t slice = slice_of(times[i], edges);
    if (slice >= 0) {
      graph.attributes.add_single(slice, weights[i]);
    } else {
      ++outside;
      graph.attributes.add_empty();
    }
  }
  graph.attribute_names = numbered_names("slice ", graph.attributes.columns);
  graph.recipe["slice_edges"] = edges;
  graph.notes.push_back(join(times.size(), " contacts in ", edges.size() - 1, " slices of ",
                             slicing_ == "width" ? "equal width" : "equal count"));
  if (outside > 0) {
    graph.notes.push_back(join(outside,
                               " contacts lie outside the slices of --like; they link "
                               "nodes but count in no slice"));
  }
  nodes.finish(graph);
  return graph;
}

}  // namespace

std::unique_ptr<Format> make_contacts_format() { return std::make_unique<ContactsFormat>(); }

}  // namespace lase
