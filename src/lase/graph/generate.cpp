#include "lase/graph/generate.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "lase/base/checksum.h"
#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/parallel.h"
#include "lase/base/safetensors.h"
#include "lase/graph/graph.h"
#include "lase/graph/graph_metadata.h"
#include "lase/graph/split.h"
#include "lase/version.h"

namespace lase {
namespace {

constexpr int64_t kChunk = 4096;  // nodes per chunk of work

// CSR rows of packed arcs: neighbor << 32 | link.
struct PackedRows {
  std::vector<int64_t> row_ptr;
  Buffer<uint64_t> arc;
};

PackedRows pack_rows(const PlantedGraph& planted) {
  const int64_t n = planted.options().nodes;
  std::vector<std::atomic<int64_t>> next(static_cast<size_t>(n));
  const auto for_each_link = [&](const auto& visit) {
    parallel_for(n, kChunk, [&](int64_t first, int64_t last) {
      std::vector<int32_t> ends;
      for (int64_t u = first; u < last; ++u) {
        planted.owned(u, ends);
        for (size_t i = 0; i < ends.size(); ++i) {
          visit(u, ends[i], planted.first_link(u) + static_cast<int64_t>(i));
        }
      }
    });
  };
  for_each_link([&](int64_t u, int64_t v, int64_t) {
    next[static_cast<size_t>(u)].fetch_add(1, std::memory_order_relaxed);
    next[static_cast<size_t>(v)].fetch_add(1, std::memory_order_relaxed);
  });
  PackedRows rows;
  rows.row_ptr.resize(static_cast<size_t>(n) + 1);
  for (size_t u = 0; u < next.size(); ++u) {
    rows.row_ptr[u + 1] = rows.row_ptr[u] + next[u];
    next[u] = rows.row_ptr[u];
  }
  rows.arc.resize(rows.row_ptr.back());
  for_each_link([&](int64_t u, int64_t v, int64_t link) {
    const auto put = [&](int64_t at, int64_t neighbor) {
      const int64_t place = next[static_cast<size_t>(at)].fetch_add(1, std::memory_order_relaxed);
      rows.arc[place] = static_cast<uint64_t>(neighbor) << 32 | static_cast<uint64_t>(link);
    };
    put(u, v);
    put(v, u);
  });
  // Sorting makes the order independent of thread timing.
  parallel_for(n, kChunk, [&](int64_t first, int64_t last) {
    for (auto u = static_cast<size_t>(first); u < static_cast<size_t>(last); ++u) {
      std::sort(rows.arc.data() + rows.row_ptr[u], rows.arc.data() + rows.row_ptr[u + 1]);
    }
  });
  return rows;
}

// Calls visit(link, kind), in link order, for the links owned by nodes [first, last).
template <class Visit>
void for_each_kind(const PlantedGraph& planted, int64_t first, int64_t last, const Visit& visit) {
  std::vector<int32_t> ends;
  for (int64_t u = first; u < last; ++u) {
    planted.owned(u, ends);
    for (size_t i = 0; i < ends.size(); ++i) {
      const int64_t link = planted.first_link(u) + static_cast<int64_t>(i);
      visit(link, planted.kind(link, u, ends[i]));
    }
  }
}

// Sparse attributes: offset of each chunk of nodes in the stored values.
std::vector<int64_t> stored_offsets(const PlantedGraph& planted) {
  const int64_t n = planted.options().nodes;
  std::vector<int64_t> offsets(static_cast<size_t>((n + kChunk - 1) / kChunk) + 1);
  parallel_for(n, kChunk, [&](int64_t first, int64_t last) {
    std::vector<PlantedGraph::Stored> stored;
    int64_t count = 0;
    for_each_kind(planted, first, last, [&](int64_t link, int32_t kind) {
      planted.attributes(link, kind, stored);
      count += static_cast<int64_t>(stored.size());
    });
    offsets[static_cast<size_t>(first / kChunk) + 1] = count;
  });
  for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  return offsets;
}

// Writes link attributes chunk by chunk, in any layout.
class AttributeWriter {
 public:
  AttributeWriter(const PlantedGraph& planted, SafetensorsWriter& writer)
      : planted_(planted), writer_(writer), links_(planted.first_link(planted.options().nodes)) {
    const auto& options = planted.options();
    switch (options.layout) {
      case Layout::kDense:
        values_ = writer.declare<float>("link_attributes", {links_, options.link_dim});
        break;
      case Layout::kDictionary:
        code_ = writer.declare<int32_t>("link_attributes.code", {links_});
        values_ =
            writer.declare<float>("link_attributes.table", {planted.kinds(), options.link_dim});
        break;
      case Layout::kSparse:
        offsets_ = stored_offsets(planted);
        row_ptr_ = writer.declare<int64_t>("link_attributes.row_ptr", {links_ + 1});
        code_ = writer.declare<int32_t>("link_attributes.column", {offsets_.back()});
        values_ = writer.declare<float>("link_attributes.value", {offsets_.back()});
        break;
    }
  }

  void write() {
    const auto& options = planted_.options();
    if (options.layout == Layout::kDictionary) {
      std::vector<float> table(static_cast<size_t>(planted_.kinds() * options.link_dim));
      for (int32_t kind = 0; kind < planted_.kinds(); ++kind) {
        planted_.attributes(0, kind, table.data() + kind * options.link_dim);
      }
      writer_.write<float>(values_, 0, table);
    }
    if (options.layout == Layout::kSparse)
      writer_.write<int64_t>(row_ptr_, links_, {&offsets_.back(), 1});
    parallel_for(options.nodes, kChunk,
                 [&](int64_t first, int64_t last) { write_chunk(first, last); });
  }

 private:
  void write_chunk(int64_t first, int64_t last) {
    const auto& options = planted_.options();
    const int64_t first_link = planted_.first_link(first);
    std::vector<float> values;
    std::vector<int32_t> numbers;  // codes or columns
    std::vector<int64_t> row_start;
    std::vector<PlantedGraph::Stored> stored;
    const int64_t offset = offsets_.empty() ? 0 : offsets_[static_cast<size_t>(first / kChunk)];
    for_each_kind(planted_, first, last, [&](int64_t link, int32_t kind) {
      switch (options.layout) {
        case Layout::kDense:
          values.resize(values.size() + static_cast<size_t>(options.link_dim));
          planted_.attributes(link, kind, values.data() + values.size() - options.link_dim);
          break;
        case Layout::kDictionary:
          numbers.push_back(kind);
          break;
        case Layout::kSparse:
          row_start.push_back(offset + static_cast<int64_t>(values.size()));
          planted_.attributes(link, kind, stored);
          for (const auto& [column, value] : stored) {
            numbers.push_back(column);
            values.push_back(value);
          }
          break;
      }
    });
    if (options.layout == Layout::kDense) {
      writer_.write<float>(values_, first_link * options.link_dim, values);
    } else if (options.layout == Layout::kDictionary) {
      writer_.write<int32_t>(code_, first_link, numbers);
    } else {
      writer_.write<int64_t>(row_ptr_, first_link, row_start);
      writer_.write<int32_t>(code_, offset, numbers);
      writer_.write<float>(values_, offset, values);
    }
  }

  const PlantedGraph& planted_;
  SafetensorsWriter& writer_;
  int64_t links_;
  std::vector<int64_t> offsets_;
  SafetensorsWriter::Id values_ = 0;
  SafetensorsWriter::Id code_ = 0;
  SafetensorsWriter::Id row_ptr_ = 0;
};

void write_rows(const PackedRows& rows, SafetensorsWriter& writer, SafetensorsWriter::Id neighbor,
                SafetensorsWriter::Id link) {
  constexpr int64_t kArcs = 1 << 20;
  parallel_for(rows.arc.size(), kArcs, [&](int64_t first, int64_t last) {
    std::vector<int32_t> high;
    std::vector<int32_t> low;
    for (int64_t i = first; i < last; ++i) {
      high.push_back(static_cast<int32_t>(rows.arc[i] >> 32));
      low.push_back(static_cast<int32_t>(rows.arc[i] & 0xFFFFFFFFu));
    }
    writer.write<int32_t>(neighbor, first, high);
    writer.write<int32_t>(link, first, low);
  });
}

// Hashes the options, which determine every array; the arrays themselves are only streamed.
std::string fingerprint_of(const PlantedOptions& options) {
  const std::string text = join("planted ", kVersion, planted_option_table().to_json(options));
  return checksum_text(checksum(std::as_bytes(std::span(text))));
}

}  // namespace

void generate_graph(const PlantedOptions& options, const std::string& path) {
  const PlantedGraph planted(options);
  const int64_t n = options.nodes;
  // Metadata only; the arrays are streamed below.
  Graph about;
  about.links = options.links;
  about.link_attributes.layout = options.layout;
  about.link_attributes.columns = options.link_dim;
  about.nodes.features.columns = options.node_dim;
  about.nodes.labels.task = Task::kSingleLabel;
  about.nodes.split = random_split(n, parse_proportions(options.split), options.seed);
  // String tables, each stored as two arrays.
  struct Strings {
    std::string name;
    StringTable table;
    SafetensorsWriter::Id offset = 0;
    SafetensorsWriter::Id bytes = 0;
  };
  std::vector<Strings> strings = {
      {"names", numbered_names("", n)},
      {"label_names", numbered_names("", options.classes)},
      {"node_feature_names", numbered_names("feature ", options.node_dim)},
      {"link_attribute_names", numbered_names("attribute ", options.link_dim)}};
  std::vector<int32_t> labels(static_cast<size_t>(n));
  parallel_for(n, kChunk, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) labels[static_cast<size_t>(u)] = planted.label(u);
  });

  SafetensorsWriter writer(path);
  const auto row_ptr = writer.declare<int64_t>("row_ptr", {n + 1});
  const auto neighbor = writer.declare<int32_t>("neighbor", {2 * options.links});
  const auto link = writer.declare<int32_t>("link", {2 * options.links});
  const auto label = writer.declare<int32_t>("labels", {n});
  const auto split = writer.declare<uint8_t>("split", {n});
  for (auto& [name, table, offset, bytes] : strings) {
    if (table.size() == 0) continue;
    offset = writer.declare<int64_t>(name + ".offset", {table.offset.size()});
    bytes = writer.declare<char>(name + ".bytes", {table.bytes.size()});
  }
  SafetensorsWriter::Id features = 0;
  if (options.node_dim > 0) {
    features = writer.declare<float>("node_features", {n, options.node_dim});
  }
  AttributeWriter attributes(planted, writer);
  about.fingerprint = fingerprint_of(options);
  writer.begin(graph_metadata(about));

  writer.write<int32_t>(label, 0, labels);
  writer.write(split, 0, about.nodes.split.span());
  for (const auto& [name, table, offset, bytes] : strings) {
    if (table.size() == 0) continue;
    writer.write(offset, 0, table.offset.span());
    writer.write(bytes, 0, table.bytes.span());
  }
  attributes.write();
  if (options.node_dim > 0) {
    parallel_for(n, kChunk, [&](int64_t first, int64_t last) {
      std::vector<float> rows(static_cast<size_t>((last - first) * options.node_dim));
      for (int64_t u = first; u < last; ++u) {
        planted.features(u, rows.data() + (u - first) * options.node_dim);
      }
      writer.write<float>(features, first * options.node_dim, rows);
    });
  }
  const PackedRows rows = pack_rows(planted);
  writer.write<int64_t>(row_ptr, 0, rows.row_ptr);
  write_rows(rows, writer, neighbor, link);
  writer.commit();
}

PlantedOptions stand_in(const std::string& name, uint64_t seed) {
  // Sizes from table 2. The signal strengths are chosen so that models score well above chance but
  // not perfectly.
  static const std::map<std::string, PlantedOptions> kStandIns = {{"reddit",
                                                                   {.nodes = 61'836,
                                                                    .links = 1'222'411,
                                                                    .classes = 8,
                                                                    .node_dim = 602,
                                                                    .link_dim = 32,
                                                                    .node_signal = 0.08,
                                                                    .link_signal = 0.3,
                                                                    .joint_signal = 0,
                                                                    .homophily = 0.3,
                                                                    .layout = Layout::kDense}},
                                                                  {"dblp",
                                                                   {.nodes = 14'389,
                                                                    .links = 111'858,
                                                                    .classes = 8,
                                                                    .node_dim = 200,
                                                                    .link_dim = 200,
                                                                    .node_signal = 0.08,
                                                                    .link_signal = 0.15,
                                                                    .joint_signal = 0,
                                                                    .homophily = 0.15,
                                                                    .layout = Layout::kDense}},
                                                                  {"email",
                                                                   {.nodes = 986,
                                                                    .links = 16'064,
                                                                    .classes = 42,
                                                                    .node_dim = 128,
                                                                    .link_dim = 32,
                                                                    .node_signal = 0.3,
                                                                    .link_signal = 0.5,
                                                                    .joint_signal = 0,
                                                                    .homophily = 0.2,
                                                                    .layout = Layout::kSparse}},
                                                                  {"fmobile",
                                                                   {.nodes = 21'102,
                                                                    .links = 55'009,
                                                                    .classes = 33,
                                                                    .node_dim = 128,
                                                                    .link_dim = 32,
                                                                    .node_signal = 0.2,
                                                                    .link_signal = 0.5,
                                                                    .joint_signal = 0,
                                                                    .homophily = 0.4,
                                                                    .layout = Layout::kSparse}}};
  const auto found = kStandIns.find(name);
  require(found != kStandIns.end(), "unknown stand-in ", quote(name),
          ": expected reddit, dblp, email or fmobile");
  PlantedOptions options = found->second;
  options.seed = seed;
  return options;
}

}  // namespace lase
