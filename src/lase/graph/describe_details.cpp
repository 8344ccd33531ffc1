#include <algorithm>
#include <cmath>
#include <ctime>
#include <sstream>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/graph/column_summary.h"
#include "lase/graph/describe.h"

namespace lase {
namespace {

using nlohmann::json;

json columns_json(const Attributes& matrix, const StringTable& names) {
  json all = json::array();
  for (const auto& column : summarize(matrix, names)) {
    all.push_back({{"name", column.name},
                   {"type", column.type()},
                   {"min", column.least},
                   {"mean", column.mean},
                   {"max", column.most},
                   {"non_zero", column.non_zero},
                   {"missing", column.missing}});
  }
  return all;
}

// Quantiles of the degrees.
json degrees_json(const Graph& graph) {
  std::vector<int64_t> degrees;
  for (int64_t u = 0; u < graph.node_count(); ++u) degrees.push_back(graph.degree(u));
  std::sort(degrees.begin(), degrees.end());
  const auto at = [&](double fraction) -> int64_t {
    if (degrees.empty()) return 0;
    return degrees[static_cast<size_t>(fraction * static_cast<double>(degrees.size() - 1))];
  };
  constexpr double kMedian = 0.5;
  constexpr double kHigh = 0.9;
  return {{"min", at(0)}, {"median", at(kMedian)}, {"p90", at(kHigh)}, {"max", at(1)}};
}

// The fraction of links between nodes with the same label, and the one expected by chance, given
// the labels at the ends of links.
json homophily_json(const Graph& graph) {
  const Labels& labels = graph.nodes.labels;
  if (labels.task != Task::kSingleLabel) return nullptr;
  std::vector<double> ends(static_cast<size_t>(labels.classes()));
  double same = 0;
  double all = 0;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int32_t a = labels.label[u];
      const int32_t b = labels.label[graph.neighbor[i]];
      if (a < 0 || b < 0) continue;
      same += a == b ? 1 : 0;
      ++ends[static_cast<size_t>(a)];
      ++all;
    }
  }
  if (all == 0) return nullptr;
  double chance = 0;
  for (const double count : ends) chance += (count / all) * (count / all);
  return {{"same_label", same / all}, {"by_chance", chance}};
}

std::string utc(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm fields{};
  ::gmtime_r(&time, &fields);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &fields);
  return text;
}

// "span, 32 slices from 2024-01-01 00:00:00 to …"; times before 1971 are probably not dates.
std::string slices_text(const json& preprocessing) {
  const auto& boundaries = preprocessing.at("slice_boundaries");
  const std::string by = preprocessing.value("slices_by", "span");
  std::string text = join(boundaries.size() - 1, " by ", by);
  if (by == "hour" || by == "weekday" || boundaries.size() < 2) return text;
  const auto first = boundaries.front().get<double>();
  const auto last = boundaries.back().get<double>();
  constexpr double kYear = 365 * 86400.0;
  constexpr double kYear10000 = 8000 * kYear;
  const bool dates = by == "span" && first > kYear && last < kYear10000;
  text += dates ? join(" from ", utc(first), " to ", utc(last))
                : join(" from ", significant(first, 6), " to ", significant(last, 6), " s");
  return text;
}

void print_columns(std::ostream& out, const char* title, const json& columns, int64_t most) {
  if (columns.empty()) return;
  out << "\n" << title << "\n";
  size_t width = 4;
  for (int64_t i = 0; i < std::min<int64_t>(most, std::ssize(columns)); ++i) {
    width = std::max(width, columns[static_cast<size_t>(i)]["name"].get<std::string>().size());
  }
  const auto cell = [](std::string text, size_t to) {
    text.resize(std::max(to, text.size()), ' ');
    return text + "  ";
  };
  out << "  " << cell("name", width) << cell("type", 7) << cell("min", 10) << cell("mean", 10)
      << cell("max", 10) << cell("non-zero", 10) << "missing\n";
  int64_t shown = 0;
  for (const auto& column : columns) {
    if (shown == most) break;
    ++shown;
    const auto number = [&](const char* key) { return significant(column[key].get<double>(), 4); };
    out << "  " << cell(column["name"].get<std::string>(), width)
        << cell(column["type"].get<std::string>(), 7) << cell(number("min"), 10)
        << cell(number("mean"), 10) << cell(number("max"), 10)
        << cell(grouped(column["non_zero"].get<int64_t>()), 10)
        << grouped(column["missing"].get<int64_t>()) << "\n";
  }
  if (std::ssize(columns) > shown) {
    out << "  and " << grouped(std::ssize(columns) - shown) << " more\n";
  }
}

}  // namespace

json describe_details_json(const Graph& graph) {
  json details = {{"features", columns_json(graph.nodes.features, graph.nodes.feature_names)},
                  {"attributes", columns_json(graph.link_attributes, graph.attribute_names)},
                  {"degrees", degrees_json(graph)},
                  {"homophily", homophily_json(graph)},
                  {"slices", nullptr}};
  if (graph.preprocessing.contains("slice_boundaries")) {
    details["slices"] = {{"by", graph.preprocessing.value("slices_by", "span")},
                         {"boundaries", graph.preprocessing["slice_boundaries"]}};
  }
  return details;
}

std::string describe_details_text(const Graph& graph, int64_t most) {
  const json details = describe_details_json(graph);
  std::ostringstream out;
  const json& degrees = details["degrees"];
  out << "degrees          min " << degrees["min"] << ", median " << degrees["median"]
      << ", 90th percentile " << degrees["p90"] << ", max " << degrees["max"] << "\n";
  if (!details["homophily"].is_null()) {
    const auto percent = [&](const char* key) {
      constexpr double kHundred = 100;
      return significant(kHundred * details["homophily"][key].get<double>(), 3);
    };
    out << "homophily        " << percent("same_label")
        << " % of links join nodes with the same label (" << percent("by_chance")
        << " % by chance)\n";
  }
  if (!details["slices"].is_null()) {
    out << "time slices      " << slices_text(graph.preprocessing) << "\n";
  }
  print_columns(out, "node features", details["features"], most);
  print_columns(out, "link attributes", details["attributes"], most);
  return out.str();
}

}  // namespace lase
