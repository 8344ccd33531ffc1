#include <span>

#include "lase/base/checksum.h"
#include "lase/base/random.h"
#include "lase/graph/graph.h"

namespace lase {
namespace {

// Combined checksum of a sequence of arrays.
class Fingerprint {
 public:
  template <class T>
  void add(const Array<T>& array) {
    sum_ = mix(sum_ ^ checksum(std::as_bytes(array.span())));
  }
  void add(const StringTable& table) {
    add(table.offset);
    add(table.bytes);
  }
  void add(const Attributes& matrix) {
    sum_ = mix(sum_ ^ static_cast<uint64_t>(matrix.columns));
    add(matrix.values);
    add(matrix.row_ptr);
    add(matrix.column);
    add(matrix.code);
  }
  void add(const Labels& labels) {
    add(labels.label);
    add(labels.target);
    add(labels.names);
  }
  std::string text() const { return checksum_text(sum_); }

 private:
  uint64_t sum_ = 0;
};

}  // namespace

std::string fingerprint(const Graph& graph) {
  if (!graph.fingerprint.empty()) return graph.fingerprint;
  Fingerprint result;
  result.add(graph.row_ptr);
  result.add(graph.neighbor);
  graph.link.visit([&](const auto& link) { result.add(link); });
  result.add(graph.link_attributes);
  result.add(graph.attribute_names);
  result.add(graph.nodes.names);
  result.add(graph.nodes.features);
  result.add(graph.nodes.feature_names);
  result.add(graph.nodes.labels);
  result.add(graph.nodes.split);
  if (!graph.link_split.empty()) result.add(graph.link_split);
  if (const LinkTargets& targets = graph.targets; targets.size() > 0) {
    result.add(targets.source);
    result.add(targets.target);
    result.add(targets.attributes);
    result.add(targets.attribute_names);
    result.add(targets.labels);
    result.add(targets.split);
  }
  return result.text();
}

}  // namespace lase
