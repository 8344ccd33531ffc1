// SNAP provides the emails as a list with timestamps and as a list without, with different person
// ids; departments are given for the ids of the second list. Both lists contain the same links in
// the order of their first email (the second also self-loops), so the k-th link of one is the k-th
// link of the other.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/ingest/table.h"

#include "download/data_sets.h"

namespace lase {
namespace {

using Pair = std::pair<std::string, std::string>;

// The first two columns.
std::vector<Pair> read_pairs(const std::string& path) {
  Table table(path, {.delimiter = "space", .header = Header::kNo, .missing = "fail"});
  require(table.column_count() >= 2, path, ": has one column, expected two");
  std::vector<Pair> pairs;
  using Chunk = std::vector<std::pair<std::string_view, std::string_view>>;
  const auto parse = [](Chunk& chunk, const Row& row) {
    chunk.emplace_back(row.text(0), row.text(1));
  };
  table.read<Chunk>(
      parse, [&](const Chunk& chunk) { pairs.insert(pairs.end(), chunk.begin(), chunk.end()); });
  return pairs;
}

std::vector<Pair> distinct_links(const std::string& path) {
  std::vector<Pair> links;
  std::set<Pair> seen;
  for (auto& link : read_pairs(path)) {
    if (link.first != link.second && seen.insert(link).second) links.push_back(std::move(link));
  }
  return links;
}

}  // namespace

void join_email_departments(const std::string& folder) {
  const std::string timed_path = folder + "/email-Eu-core-temporal.txt.gz";
  const std::string plain_path = folder + "/email-Eu-core.txt.gz";
  const std::string label_path = folder + "/email-Eu-core-department-labels.txt.gz";
  const auto timed = distinct_links(timed_path);
  const auto plain = distinct_links(plain_path);
  require(timed.size() == plain.size(), timed_path, ": has ", timed.size(),
          " links between different people, expected ", plain.size(), " as in ", plain_path);
  std::map<std::string, std::string> department;
  for (auto& [person, name] : read_pairs(label_path)) department[person] = name;

  std::map<std::string, std::string> number;  // person id in the list without timestamps
  TextWriter people(folder + "/people.csv");
  people << "id,department\n";
  const auto match = [&](const std::string& person, const std::string& plain_number) {
    const auto [entry, is_new] = number.emplace(person, plain_number);
    require(entry->second == plain_number, timed_path, ": links are not in the same order as in ",
            plain_path, "; person ", person, " would be both ", entry->second, " and ",
            plain_number);
    if (!is_new) return;
    require(department.contains(plain_number), label_path, ": has no department for person ",
            plain_number);
    people.field(person) << ',';
    people.field(department.at(plain_number)) << '\n';
  };
  for (size_t k = 0; k < timed.size(); ++k) {
    match(timed[k].first, plain[k].first);
    match(timed[k].second, plain[k].second);
  }
  people.commit();
}

}  // namespace lase
