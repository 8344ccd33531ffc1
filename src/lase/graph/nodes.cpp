#include "lase/graph/nodes.h"

#include <array>

namespace lase {

void append_features(Nodes& nodes, const Attributes& columns, const StringTable& names) {
  if (nodes.features.columns == 0) {
    nodes.features = columns;
    nodes.feature_names = names;
    return;
  }
  const std::array parts{nodes.features, columns};
  nodes.features = concat_columns(parts);
  StringTableBuilder all;
  for (const auto& table : {nodes.feature_names, names}) {
    for (int64_t i = 0; i < table.size(); ++i) all.add(table[i]);
  }
  nodes.feature_names = all.finish();
}

}  // namespace lase
