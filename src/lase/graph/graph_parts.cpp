#include "lase/graph/graph_parts.h"

#include <bit>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "lase/base/checksum.h"
#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/lase_file.h"
#include "lase/base/memory.h"
#include "lase/base/parallel.h"
#include "lase/base/process_group.h"
#include "lase/base/random.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/part_files.h"
#include "lase/graph/stored_arrays.h"

namespace lase {
namespace {

using nlohmann::json;

constexpr std::string_view kPartPrefix = "part-";

// Numbers the rows that occur by their order.
class RowNumbers {
 public:
  explicit RowNumbers(int64_t rows)
      : occurs_(static_cast<size_t>((rows + 63) / 64)), before_(occurs_.size()) {}

  void clear() { std::fill(occurs_.begin(), occurs_.end(), 0); }
  void add(int64_t row) { occurs_[word(row)] |= bit(row); }

  // Call it after the last add(). Returns the rows that occur, in ascending order.
  std::vector<int64_t> finish() {
    std::vector<int64_t> rows;
    for (size_t i = 0; i < occurs_.size(); ++i) {
      before_[i] = std::ssize(rows);
      for (uint64_t left = occurs_[i]; left != 0; left &= left - 1) {
        rows.push_back(static_cast<int64_t>(i) * 64 + std::countr_zero(left));
      }
    }
    return rows;
  }
  // The position of a row among those that occur.
  int64_t operator[](int64_t row) const {
    return before_[word(row)] + std::popcount(occurs_[word(row)] & (bit(row) - 1));
  }

 private:
  static size_t word(int64_t row) { return static_cast<size_t>(row / 64); }
  static uint64_t bit(int64_t row) { return uint64_t{1} << (row % 64); }

  std::vector<uint64_t> occurs_;
  std::vector<int64_t> before_;  // rows that occur in earlier words
};

// Bytes of `rows` of the matrix, on average.
double average_bytes(const Attributes& matrix, int64_t rows) {
  if (matrix.rows == 0) return 0;
  return static_cast<double>(matrix.bytes()) * static_cast<double>(rows) /
         static_cast<double>(matrix.rows);
}

// Selects the arcs and rows of one part.
GraphPart select_part(const Graph& graph, std::span<const int32_t> nodes, RowNumbers& numbers) {
  const auto rows = std::ssize(nodes);
  Buffer<int64_t> row_ptr;
  row_ptr.resize(rows + 1);
  row_ptr[0] = 0;
  numbers.clear();
  for (int64_t i = 0; i < rows; ++i) {
    const int32_t u = nodes[static_cast<size_t>(i)];
    row_ptr[i + 1] = row_ptr[i] + graph.degree(u);
    for (int64_t a = graph.row_ptr[u]; a < graph.row_ptr[u + 1]; ++a) numbers.add(graph.link[a]);
  }
  const int64_t arcs = row_ptr[rows];
  require_memory(
      16.0 * static_cast<double>(arcs) + average_bytes(graph.nodes.features, rows) +
          average_bytes(graph.link_attributes, std::min(arcs, graph.link_attributes.rows)),
      "the arrays of a part", "divide the graph into more parts");
  const std::vector<int64_t> link_rows = numbers.finish();
  Buffer<int32_t> neighbor;
  neighbor.resize(arcs);
  IndexBuffer link(arcs, std::ssize(link_rows) - 1);
  constexpr int64_t kNodesAtOnce = 4096;
  parallel_for(rows, kNodesAtOnce, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t start = graph.row_ptr[nodes[static_cast<size_t>(i)]];
      for (int64_t a = row_ptr[i]; a < row_ptr[i + 1]; ++a) {
        const int64_t from = start + a - row_ptr[i];
        neighbor[a] = graph.neighbor[from];
        link.set(a, numbers[graph.link[from]]);
      }
    }
  });
  const std::vector<int64_t> node_rows(nodes.begin(), nodes.end());
  return {.node = std::vector<int32_t>(nodes.begin(), nodes.end()),
          .arcs = {row_ptr.freeze(), neighbor.freeze(), link.freeze()},
          .features = select_rows(graph.nodes.features, node_rows),
          .link_attributes = select_rows(graph.link_attributes, link_rows)};
}

void write_part(const GraphPart& part, const std::string& path, json about) {
  const int64_t rows = part.node.size();
  const int64_t arcs = part.arcs.arc_count();
  about["link_rows"] = part.link_attributes.rows;
  ArrayWriter writer(path);
  writer.add("node", part.node, {rows});
  writer.add("row_ptr", part.arcs.row_ptr, {rows + 1});
  writer.add("neighbor", part.arcs.neighbor, {arcs});
  part.arcs.link.visit([&](const auto& link) { writer.add("link", link, {arcs}); });
  writer.add("node_features", part.features);
  writer.add("link_attributes", part.link_attributes);
  writer.finish(file_metadata(kPartFile, about));
}

// Row of each node in its part.
Array<int32_t> rows_of(const PartMembers& members) {
  std::vector<int32_t> row(members.node.size());
  for (size_t p = 0; p + 1 < members.first.size(); ++p) {
    int32_t next = 0;
    for (const int32_t u : members.of(static_cast<int64_t>(p)))
      row[static_cast<size_t>(u)] = next++;
  }
  return row;
}

void write_nodes(const Graph& graph, const Partition& partition, const PartMembers& members,
                 const std::string& path, json about) {
  about.update({{"parts", partition.parts},
                {"arcs", graph.arc_count()},
                {"links", graph.links},
                {"directed", graph.directed},
                {"separate_directions", graph.separate_directions},
                {"task", task_name(graph.nodes.labels.task)},
                {"node_features", attributes_metadata(graph.nodes.features)},
                {"link_attributes", attributes_metadata(graph.link_attributes)},
                {"fingerprint", fingerprint(graph)},
                {"preprocessing", graph.preprocessing}});
  const int64_t n = graph.node_count();
  const Nodes& nodes = graph.nodes;
  ArrayWriter writer(path);
  writer.add("part", Array<uint16_t>(partition.part), {n});
  writer.add("row", rows_of(members), {n});
  writer.add("row_ptr", graph.row_ptr, {n + 1});
  writer.add("names", nodes.names);
  writer.add("node_feature_names", nodes.feature_names);
  writer.add("link_attribute_names", graph.attribute_names);
  add_labels(writer, kNodeLabels, nodes.labels, n);
  if (!nodes.split.empty()) writer.add("split", nodes.split, {n});
  writer.add("node_reduction", graph.node_reduction);
  writer.add("link_reduction", graph.link_reduction);
  writer.finish(file_metadata(kPartitionFile, about));
}

// Depends on the graph and on the part of every node.
std::string partition_id(const Graph& graph, const Partition& partition) {
  const std::string text = join(fingerprint(graph), " ", partition.parts);
  return checksum_text(mix(checksum(std::as_bytes(std::span(text))) ^
                           checksum(std::as_bytes(std::span(partition.part)))));
}

std::vector<std::string> file_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  require(!error, folder, ": cannot be read: ", error.message());
  return names;
}

// Whether a file in a folder is one of a partitioned graph, or what a killed writer left of one.
bool is_replaceable(const std::string& folder, const std::string& name) try {
  if (name.starts_with(".lase-")) return true;
  const std::string path = join(folder, "/", name);
  if (name == "nodes") return (void)open_lase_file(path, kPartitionFile), true;
  return name.starts_with(kPartPrefix) && ((void)open_lase_file(path, kPartFile), true);
} catch (const Error&) {
  return false;
}

// Throws Error if a folder has other files than those of a partitioned graph.
void require_replaceable(const std::string& folder) {
  for (const std::string& name : file_names(folder)) {
    require(is_replaceable(folder, name), folder, ": contains ", quote(name),
            ", which is not a file of a partitioned graph; choose another folder");
  }
}

// Deletes the parts of other partitions.
void delete_other_parts(const std::string& folder, const std::string& id) {
  if (!is_first_process()) return;
  for (const std::string& name : file_names(folder)) {
    const bool other =
        name.starts_with(kPartPrefix) && !name.starts_with(join(kPartPrefix, id, "-"));
    const std::string path = join(folder, "/", name);
    if (other) require_file(::unlink(path.c_str()) == 0, path, "cannot be deleted");
  }
}

}  // namespace

std::string nodes_path(const std::string& folder) { return folder + "/nodes"; }

std::string part_path(const std::string& folder, const std::string& id, int64_t part) {
  constexpr size_t kDigits = 5;
  std::string number = std::to_string(part);
  number.insert(0, kDigits - std::min(kDigits, number.size()), '0');
  return join(folder, "/", kPartPrefix, id, "-", number);
}

void save_parts(const Graph& graph, const Partition& partition, const std::string& folder) {
  require(graph.targets.size() == 0 && graph.link_split.empty(),
          "the graph has link targets or a split of links; only graphs without them can be "
          "partitioned");
  require(std::ssize(partition.part) == graph.node_count(), "the partition has ",
          partition.part.size(), " nodes, but the graph has ", graph.node_count());
  make_folder(folder);
  require_replaceable(folder);
  const std::string id = partition_id(graph, partition);
  const PartMembers members = part_members(partition);
  RowNumbers numbers(graph.links * (graph.separate_directions ? 2 : 1));
  for (int64_t p = 0; p < partition.parts; ++p) {
    write_part(select_part(graph, members.of(p), numbers), part_path(folder, id, p),
               {{"partition", id},
                {"part", p},
                {"node_features", attributes_metadata(graph.nodes.features)},
                {"link_attributes", attributes_metadata(graph.link_attributes)}});
  }
  write_nodes(graph, partition, members, nodes_path(folder), {{"id", id}});
  delete_other_parts(folder, id);
}

bool is_partitioned(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) &&
         std::filesystem::is_regular_file(nodes_path(path), error);
}

}  // namespace lase
