// OGB's raw layout of a node property data set: raw/edge.csv.gz and raw/num-node-list.csv.gz;
// optional are raw/node-feat.csv.gz, raw/edge-feat.csv.gz, raw/node-label.csv.gz and split/NAME/.

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/graph/encode_labels.h"
#include "lase/ingest/link_file.h"
#include "lase/ingest/table.h"

namespace lase {
namespace {

namespace fs = std::filesystem;

// Reads the files of one data set.
class OgbReader {
 public:
  explicit OgbReader(const OgbOptions& options) : options_(options) {}
  RawGraph read(const Schema* schema) const;

 private:
  // Path of the file, gzip or plain; empty if it does not exist.
  std::string find(const std::string& name) const;
  std::string need(const std::string& name) const;
  fs::path raw() const;
  void read_labels(RawGraph& graph, int64_t nodes, const Schema* schema) const;
  void read_split(RawGraph& graph, int64_t nodes) const;

  const OgbOptions& options_;
};

fs::path OgbReader::raw() const {
  const fs::path folder(options_.folder);
  return fs::is_directory(folder / "raw") ? folder / "raw" : folder;
}

std::string OgbReader::find(const std::string& name) const {
  for (const char* ending : {".csv.gz", ".csv"}) {
    const fs::path path = raw() / (name + ending);
    if (fs::exists(path)) return path.string();
  }
  return "";
}

std::string OgbReader::need(const std::string& name) const {
  std::string path = find(name);
  require(!path.empty(), (raw() / (name + ".csv.gz")).string(), ": is missing");
  return path;
}

struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
  Buffer<float> values;
};

// Reads a CSV of numbers without header; empty fields and "nan" are NaN if they are allowed.
Matrix read_matrix(const std::string& path, bool allow_unknown) {
  Table table(path, {.delimiter = ",", .header = Header::kNo, .missing = "fail"});
  Matrix matrix;
  matrix.columns = table.column_count();
  using Chunk = std::vector<float>;
  const auto parse = [&](Chunk& chunk, const Row& row) {
    for (int64_t column = 0; column < matrix.columns; ++column) {
      const auto text = row.text(column);
      const bool unknown = allow_unknown && (text.empty() || lower_case(text) == "nan");
      chunk.push_back(unknown ? std::numeric_limits<float>::quiet_NaN() : row.attribute(column));
    }
  };
  table.read<Chunk>(parse, [&](const Chunk& chunk) { matrix.values.append(chunk); });
  matrix.rows = matrix.values.size() / matrix.columns;
  return matrix;
}

// Reads a CSV of non-negative integers below `limit`.
std::vector<int32_t> read_numbers(const std::string& path, int64_t columns, int64_t limit) {
  Table table(path, {.delimiter = ",", .header = Header::kNo, .missing = "fail"});
  require(table.column_count() == columns, path, ": has ", table.column_count(),
          " columns, expected ", columns);
  std::vector<int32_t> numbers;
  using Chunk = std::vector<int32_t>;
  const auto parse = [&](Chunk& chunk, const Row& row) {
    for (int64_t column = 0; column < columns; ++column) {
      const double value = row.number(column);
      if (value < 0 || value >= static_cast<double>(limit) || value != std::floor(value)) {
        row.fail(column, join("a non-negative integer below ", limit));
      }
      chunk.push_back(static_cast<int32_t>(value));
    }
  };
  table.read<Chunk>(parse, [&](const Chunk& chunk) {
    numbers.insert(numbers.end(), chunk.begin(), chunk.end());
  });
  return numbers;
}

void OgbReader::read_labels(RawGraph& graph, int64_t nodes, const Schema* schema) const {
  const std::string path = find("node-label");
  if (path.empty()) return;
  Matrix matrix = read_matrix(path, true);
  require(matrix.rows == nodes, path, ": has ", matrix.rows, " rows, expected ", nodes,
          ", one per node");
  Labels& labels = graph.nodes.labels;
  const bool several = matrix.columns > 1;
  if (options_.task == OgbTask::kSingleLabel || (options_.task == OgbTask::kAuto && !several)) {
    require(!several, path, ": has ", matrix.columns,
            " columns, expected one with the class of each node");
    StringTableBuilder texts;
    for (const float value : matrix.values) {
      require(std::isnan(value) || value == std::floor(value), path, ": contains the label ", value,
              ", expected integers; use ", OptionName{"task"}, " regression to predict numbers");
      constexpr int kMost = 1 << 24;  // float32 represents all integers up to here
      require(std::isnan(value) || std::abs(value) <= float{kMost}, path, ": contains the label ",
              value, ", expected integers from ", -kMost, " to ", kMost);
      texts.add(std::isnan(value) ? "" : std::to_string(static_cast<int64_t>(value)));
    }
    labels = encode_labels(texts.finish(), schema != nullptr ? schema->label_names : StringTable{});
    return;
  }
  labels.task = options_.task == OgbTask::kRegression ? Task::kRegression : Task::kMultiLabel;
  labels.names = numbered_names("", matrix.columns);
  if (labels.task == Task::kMultiLabel) {
    for (const float value : matrix.values) {
      require(std::isnan(value) || value == 0 || value == 1, path, ": contains ", value,
              ", expected 0 or 1 for each class");
    }
  }
  labels.target = matrix.values.freeze();
}

void OgbReader::read_split(RawGraph& graph, int64_t nodes) const {
  const fs::path folder = fs::path(options_.folder) / "split";
  if (!fs::is_directory(folder)) return;
  fs::path chosen = folder / options_.split_name;
  if (options_.split_name.empty()) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) found.push_back(entry.path());
    }
    require(found.size() == 1, folder.string(), ": has ", found.size(),
            " splits, expected one; choose one with ", OptionName{"split_name"});
    chosen = found[0];
  }
  std::vector<uint8_t> split(static_cast<size_t>(nodes));
  for (const auto& [name, part] :
       {std::pair{"train", Split::kTrain}, {"valid", Split::kVal}, {"test", Split::kTest}}) {
    std::string path = (chosen / (std::string(name) + ".csv.gz")).string();
    if (!fs::exists(path)) path = (chosen / (std::string(name) + ".csv")).string();
    for (const int32_t node : read_numbers(path, 1, nodes)) {
      split[static_cast<size_t>(node)] = static_cast<uint8_t>(part);
    }
  }
  graph.nodes.split = std::move(split);
}

RawGraph OgbReader::read(const Schema* schema) const {
  require(fs::is_directory(options_.folder), options_.folder, ": is not a folder");
  RawGraph graph;
  graph.rules = options_.rules;
  graph.layout_rule = layout_rule(options_.layout, LayoutRule::kAsRead);
  const std::string count_path = need("num-node-list");
  const auto counts = read_numbers(count_path, 1, std::numeric_limits<int32_t>::max());
  require(counts.size() == 1 && counts[0] > 0, count_path, ": lists ", counts.size(),
          " graphs, expected one with at least one node");
  const int64_t nodes = counts[0];

  const std::string edge_path = need("edge");
  const auto ends = read_numbers(edge_path, 2, nodes);
  for (size_t i = 0; i < ends.size(); i += 2) {
    graph.source.push_back(ends[i]);
    graph.target.push_back(ends[i + 1]);
  }
  if (const std::string path = find("edge-feat"); !path.empty()) {
    Matrix matrix = read_matrix(path, false);
    require(matrix.rows == graph.source.size(), path, ": has ", matrix.rows, " rows, expected ",
            graph.source.size(), ", one per line of ", edge_path);
    graph.attributes.columns = matrix.columns;
    graph.attributes.values = std::move(matrix.values);
  }
  graph.nodes.features.rows = nodes;
  if (const std::string path = find("node-feat"); !path.empty()) {
    Matrix matrix = read_matrix(path, false);
    require(matrix.rows == nodes, path, ": has ", matrix.rows, " rows, expected ", nodes,
            ", one per node");
    graph.nodes.features = Attributes::dense(matrix.values.freeze(), nodes, matrix.columns);
  }
  graph.nodes.names = numbered_names("", nodes);
  read_labels(graph, nodes, schema);
  read_split(graph, nodes);
  return graph;
}

}  // namespace

const OptionTable<OgbOptions>& ogb_option_table() {
  static const auto table = [] {
    using O = OgbOptions;
    OptionTable<O> all;
    all.add("folder", &O::folder, any(), "Folder with the folders raw/ and split/")
        .required()
        .positional();
    all.add(
        "task", &O::task, one_of<OgbTask>(),
        "Task of the label columns (auto = single-label for one column, multi-label for several "
        "columns)");
    all.add("split_name", &O::split_name, any(),
            "Name of the folder under split/ (default: the only one)");
    all.include(link_rule_option_table(Merging::kChosen), &O::rules);
    all.add("layout", &O::layout, one_of<LayoutChoice>(), kLayoutHelp);
    return all;
  }();
  return table;
}

RawGraph read_ogb(const OgbOptions& options, const Schema* schema) {
  ogb_option_table().check(options);
  check(options.rules);
  return OgbReader(options).read(schema);
}

}  // namespace lase
