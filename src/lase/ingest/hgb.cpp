// The layout of the Heterogeneous Graph Benchmark (Lv et al. 2021): tab-separated files without
// headers.
//
//   node.dat         id, name, type, features separated by commas (or none)
//   link.dat         source, target, relation, weight
//   label.dat        id, name, type, classes separated by commas: training and validation nodes
//   label.dat.test   the same for test nodes; optional

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/interner.h"
#include "lase/graph/encode_labels.h"
#include "lase/graph/split.h"
#include "lase/ingest/link_file.h"
#include "lase/ingest/table.h"

namespace lase {
namespace {

namespace fs = std::filesystem;

using Fields = std::vector<std::string_view>;

constexpr const char* kSeveral = "several";  // a node may have several classes

// A line of one of the files.
struct HgbRow {
  const std::string& path;
  int64_t line;
  Fields fields;

  [[noreturn]] void fail(std::string_view value, const char* expected) const {
    throw Error(join(path, ":", line, ": ", quote(value), ": expected ", expected));
  }
  float number(std::string_view text) const {
    const auto value = parse_number(trimmed(text));
    if (!value) fail(text, "a finite number");
    const auto number = static_cast<float>(*value);
    if (!std::isfinite(number)) fail(text, "a number within the range of single precision");
    return number;
  }
};

// Calls use(row) for each line. Throws Error if a line has fewer than `least` or more than `most`
// fields.
template <class Use>
void for_each_row(const std::string& path, size_t least, size_t most, const Use& use) {
  for_each_line(path, [&](std::string_view line, int64_t number) {
    HgbRow row{path, number, split_text(line, "\t")};
    require(row.fields.size() >= least && row.fields.size() <= most, path, ":", number, ": has ",
            row.fields.size(), " fields, expected ", least, least == most ? "" : join(" to ", most),
            " separated by tabs");
    use(row);
  });
}

// Node features as columns: type=T for every type T, then T:0, T:1, … for its features.
class HgbFeatures {
 public:
  explicit HgbFeatures(const Schema* schema) : fixed_(schema != nullptr) {
    for (int64_t i = 0; fixed_ && i < schema->feature_names.size(); ++i) {
      names_.add(schema->feature_names[i]);
    }
  }

  void add(const HgbRow& row) {
    const std::string type(row.fields[2]);
    const auto [found, added] = types_.try_emplace(type);
    if (added) found->second.push_back(column(join("type=", type)));
    std::vector<int32_t>& columns = found->second;
    set(columns[0], 1);
    if (row.fields.size() > 3 && !trimmed(row.fields[3]).empty()) {
      size_t at = 0;
      for (const auto text : split_text(row.fields[3], ",")) {
        if (++at == columns.size()) columns.push_back(column(join(type, ":", at - 1)));
        const float value = row.number(text);
        if (value != 0) set(columns[at], value);
      }
    }
    std::sort(row_.begin(), row_.end());
    for (const auto& [j, value] : row_) {
      column_.push_back(j);
      values_.push_back(value);
    }
    row_.clear();
    row_ptr_.push_back(std::ssize(values_));
  }

  int64_t unseen() const { return unseen_; }  // values in columns that the earlier graph lacks

  void finish(Nodes& nodes) {
    Attributes features;
    features.layout = Layout::kSparse;
    features.rows = std::ssize(row_ptr_) - 1;
    features.columns = names_.size();
    features.values = std::move(values_);
    features.row_ptr = std::move(row_ptr_);
    features.column = std::move(column_);
    nodes.features = std::move(features);
    nodes.feature_names = names_.finish();
  }

 private:
  // −1: not in the earlier graph
  int32_t column(const std::string& name) {
    return fixed_ ? names_.find(name).value_or(-1) : names_.add(name);
  }
  void set(int32_t at, float value) {
    if (at < 0) {
      ++unseen_;
    } else {
      row_.emplace_back(at, value);
    }
  }

  bool fixed_;
  Interner names_;
  std::map<std::string, std::vector<int32_t>> types_;  // columns: of the type, then its features
  std::vector<std::pair<int32_t, float>> row_;
  std::vector<float> values_;
  std::vector<int64_t> row_ptr_ = {0};
  std::vector<int32_t> column_;
  int64_t unseen_ = 0;
};

class HgbReader {
 public:
  HgbReader(const HgbOptions& options, const Schema* schema) : options_(options), schema_(schema) {}

  RawGraph read() {
    require(fs::is_directory(options_.folder), options_.folder, ": is not a folder");
    graph_.rules = options_.rules;
    graph_.layout_rule = layout_rule(options_.layout, LayoutRule::kAsRead);
    read_nodes();
    read_links();
    read_labels();
    graph_.nodes.names = nodes_.finish();
    return std::move(graph_);
  }

 private:
  // Path of the file, plain or gzip; empty if it does not exist.
  std::string find(const std::string& name) const {
    for (const char* ending : {"", ".gz"}) {
      const fs::path path = fs::path(options_.folder) / (name + ending);
      if (fs::exists(path)) return path.string();
    }
    return "";
  }
  std::string need(const std::string& name) const {
    std::string path = find(name);
    require(!path.empty(), (fs::path(options_.folder) / name).string(), ": is missing");
    return path;
  }
  int32_t node(const HgbRow& row, size_t field) const {
    const auto found = nodes_.find(row.fields[field]);
    if (!found) row.fail(row.fields[field], "the id of a node in node.dat");
    return *found;
  }

  void read_nodes() {
    HgbFeatures features(schema_);
    const std::string path = need("node.dat");
    for_each_row(path, 3, 4, [&](const HgbRow& row) {
      const int64_t before = nodes_.size();
      require(nodes_.add(row.fields[0]) == before, path, ":", row.line, ": the node ",
              quote(row.fields[0]), " is listed twice");
      features.add(row);
    });
    require(nodes_.size() > 0, path, ": has no nodes");
    if (features.unseen() > 0) {
      graph_.notes.push_back(join(grouped(features.unseen()),
                                  " feature values are in columns that the earlier graph does not "
                                  "have; they were ignored"));
    }
    features.finish(graph_.nodes);
  }

  void read_links() {
    Interner relations;
    const bool fixed = schema_ != nullptr;
    for (int64_t i = 0; fixed && i < schema_->attribute_names.size(); ++i) {
      relations.add(schema_->attribute_names[i]);
    }
    int64_t unseen = 0;
    graph_.attributes.layout = Layout::kSparse;
    for_each_row(need("link.dat"), 3, 4, [&](const HgbRow& row) {
      const std::string relation = join("relation ", row.fields[2]);
      const float weight = row.fields.size() > 3 ? row.number(row.fields[3]) : 1.0F;
      graph_.source.push_back(node(row, 0));
      graph_.target.push_back(node(row, 1));
      if (fixed && !relations.find(relation)) {
        ++unseen;
        graph_.attributes.add_empty();
      } else {
        graph_.attributes.add_single(relations.add(relation), weight);
      }
    });
    graph_.attributes.columns = relations.size();
    graph_.attribute_names = relations.finish();
    if (unseen > 0) {
      graph_.notes.push_back(join(
          grouped(unseen),
          " rows have relations that are not in the earlier graph; these relations were ignored"));
    }
  }

  void read_labels() {
    if (find("label.dat").empty() && find("label.dat.test").empty()) return;
    const auto size = static_cast<size_t>(nodes_.size());
    std::vector<std::string> texts(size);
    std::vector<uint8_t> split(size);
    bool several = false;
    for (const Split part : {Split::kTrain, Split::kTest}) {
      const std::string path = find(part == Split::kTrain ? "label.dat" : "label.dat.test");
      if (path.empty()) continue;
      for_each_row(path, 4, 4, [&](const HgbRow& row) {
        const auto u = static_cast<size_t>(node(row, 0));
        require(texts[u].empty(), path, ":", row.line, ": the node ", quote(row.fields[0]),
                " has a label already");
        if (trimmed(row.fields[3]).empty()) row.fail(row.fields[3], "one or more classes");
        texts[u] = trimmed(row.fields[3]);
        several = several || texts[u].find(',') != std::string::npos;
        split[u] = static_cast<uint8_t>(part);
      });
    }
    const auto known = schema_ != nullptr ? schema_->label_names : StringTable{};
    const StringTable table = make_string_table(texts);
    several = several || (schema_ != nullptr && schema_->text("classes") == kSeveral);
    if (several) graph_.preprocessing["classes"] = kSeveral;
    auto& labels = graph_.nodes.labels;
    labels = several ? encode_multi_labels(table, ",", known) : encode_labels(table, known);
    constexpr double kPercent = 100;
    graph_.nodes.split =
        redraw_validation(labels, split, options_.validation / kPercent, options_.seed);
  }

  const HgbOptions& options_;
  const Schema* schema_;
  RawGraph graph_;
  Interner nodes_;
};

}  // namespace

const OptionTable<HgbOptions>& hgb_option_table() {
  static const auto table = [] {
    using O = HgbOptions;
    OptionTable<O> all;
    all.add("folder", &O::folder, any(),
            "Folder with node.dat, link.dat, label.dat and label.dat.test, plain or gzip")
        .required()
        .positional();
    all.add("validation", &O::validation, below(0, 100),
            "Percentage of the nodes in label.dat that is used for validation");
    all.add("seed", &O::seed, any(), "Random seed for the choice of validation nodes");
    all.include(link_rule_option_table(Merging::kAlways), &O::rules);
    all.add("layout", &O::layout, one_of<LayoutChoice>(), kLayoutHelp);
    return all;
  }();
  return table;
}

RawGraph read_hgb(const HgbOptions& options, const Schema* schema) {
  hgb_option_table().check(options);
  HgbOptions resolved = options;
  if (schema != nullptr && schema->separate_directions) resolved.rules.separate_directions = true;
  check(resolved.rules);
  return HgbReader(resolved, schema).read();
}

}  // namespace lase
