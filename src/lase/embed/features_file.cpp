#include "lase/embed/features_file.h"

#include <string>
#include <utility>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/json.h"

namespace lase {
namespace {

using nlohmann::json;

std::string table_name(size_t number, const char* part) {
  return join("learned.", number, ".", part);
}

}  // namespace

json add_learned(ArrayWriter& writer, const LearnedFeatures& learned) {
  if (!learned.present()) return nullptr;
  json widths = json::array();
  const auto& tables = learned.embedding.tables;
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::vector<int64_t> shape = {learned.embedding.nodes, tables[i].width};
    writer.add(table_name(i, "center"), Array<float>(tables[i].center), shape);
    if (!tables[i].context.empty()) {
      writer.add(table_name(i, "context"), Array<float>(tables[i].context), shape);
    }
    widths.push_back({{"width", tables[i].width}, {"two", !tables[i].context.empty()}});
  }
  writer.add("learned.names", learned.names);
  return {{"options", to_json(learned.options)},
          {"nodes", learned.embedding.nodes},
          {"tables", widths}};
}

LearnedFeatures get_learned(const SafetensorsFile& file, const json& about) {
  LearnedFeatures learned;
  if (about.is_null()) return learned;
  learned.options = embed_option_table().from_json(about.at("options"));
  learned.embedding.nodes = non_negative_at(about, "nodes");
  const auto check_positive = [&](int64_t value) {
    require(value > 0, file.path(), ": the description of the model is damaged");
  };
  check_positive(learned.embedding.nodes);
  learned.names = get_column_names(file, "learned.names", learned.embedding.nodes);
  for (const json& entry : about.at("tables")) {
    const std::vector<int64_t> shape = {learned.embedding.nodes, non_negative_at(entry, "width")};
    check_positive(shape[1]);
    const auto rows = [&](const char* part) {
      const std::string name = table_name(learned.embedding.tables.size(), part);
      const auto values = file.get<float>(name, shape);
      check_finite(values, name, file.path());
      return std::vector<float>(values.begin(), values.end());
    };
    Embedding::Table table{.width = shape[1], .center = rows("center"), .context = {}};
    if (entry.at("two").get<bool>()) table.context = rows("context");
    learned.embedding.tables.push_back(std::move(table));
  }
  return learned;
}

}  // namespace lase
