#include "download/data_sets.h"

#include <algorithm>

#include "lase/base/error.h"

namespace lase {
namespace {

RemoteFile file(const std::string& base, const std::string& name, int64_t bytes,
                const std::string& sha256 = "") {
  return {.url = base + name, .name = name, .sha256 = sha256, .bytes = bytes};
}

// Checksums were published by third parties; SNAP, OGB and SocioPatterns do not publish any.
std::vector<DataSet> make_data_sets() {
  const std::string snap = "https://snap.stanford.edu/data/";
  const std::string ogb = "https://snap.stanford.edu/ogb/data/nodeproppred/";
  const std::string sociopatterns = "https://www.sociopatterns.org/assets/data/";
  return {
      {.name = "email",
       .summary = "emails in a research institution: 986 people, 332,334 emails, 42 departments",
       .files = {file(snap, "email-Eu-core-temporal.txt.gz", 1'600'000),
                 file(snap, "email-Eu-core.txt.gz", 79'754,
                      "4b47acdb80197b085fe63c819c357ae488131ee904ed93d1b219a68b0f9e245f"),
                 file(snap, "email-Eu-core-department-labels.txt.gz", 2'600,
                      "e5abe5b4581a480032a63adcf2576c161785f45692642c6ebb0b1276f0f33669")},
       .finish = join_email_departments,
       .import = "lase import contacts FOLDER/email-Eu-core-temporal.txt.gz"
                 " --nodes FOLDER/people.csv --label department --split 65/15/20 --slices 64"
                 " --separate-directions --out email.graph"},
      {.name = "workplace",
       .summary =
           "face-to-face contacts in an office: 217 people with contacts (232 in the metadata), "
           "78,249 contacts, 12 departments",
       .files = {file(sociopatterns, "workplace_InVS15_tij.dat.gz", 241'057,
                      "339eb090d506d750f38a2c1ac6aca76c00c55b462f9dea325933d8b7bc260871"),
                 file(sociopatterns, "workplace_InVS15_metadata.txt", 1'938)},
       .import = "lase import contacts FOLDER/workplace_InVS15_tij.dat.gz --time 1"
                 " --nodes FOLDER/workplace_InVS15_metadata.txt --label 2 --split 65/15/20"
                 " --out workplace.graph"},
      {.name = "ogbn-proteins",
       .summary = "protein associations: 132,534 nodes, 39,561,252 links with 8 attributes,"
                  " 112 classes (multi-label)",
       .files = {file(ogb, "proteins.zip", 226'000'000,
                      "1cd3113dc2a6f0c87a549332b77d78be45cf99804c254c18d9c72029164a0859")},
       .unpack = "unzip FOLDER/proteins.zip -d FOLDER",
       .import = "lase import ogb FOLDER/proteins --out proteins.graph"},
      {.name = "ogbn-arxiv",
       .summary = "citations between papers: 169,343 nodes, 1,166,243 links without attributes,"
                  " 40 classes",
       .files = {file(ogb, "arxiv.zip", 83'058'288,
                      "49f85c801589ecdcc52cfaca99693aaea7b8af16a9ac3f41dd85a5f3193fe276")},
       .unpack = "unzip FOLDER/arxiv.zip -d FOLDER",
       .import = "lase import ogb FOLDER/arxiv --out arxiv.graph"},
      {.name = "bitcoin-otc",
       .summary = "trust ratings between traders: 5,881 people, 35,592 ratings with timestamps, no"
                  " labels",
       .files = {file(snap, "soc-sign-bitcoinotc.csv.gz", 990'000)},
       .import =
           "lase import links FOLDER/soc-sign-bitcoinotc.csv.gz --header no --separate-directions"
           " --out bitcoin-otc.graph"},
      {.name = "college-msg",
       .summary = "messages between students: 1,899 people, 59,835 messages, no labels",
       .files = {file(snap, "CollegeMsg.txt.gz", 340'000)},
       .import = "lase import contacts FOLDER/CollegeMsg.txt.gz --separate-directions"
                 " --out college-msg.graph"},
  };
}

}  // namespace

int64_t DataSet::bytes() const {
  int64_t sum = 0;
  for (const auto& part : files) sum += part.bytes;
  return sum;
}

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets = make_data_sets();
  return sets;
}

const DataSet& find_data_set(std::string_view name) {
  std::string names;
  for (const auto& set : data_sets()) {
    if (set.name == name) return set;
    names += (names.empty() ? "" : ", ") + set.name;
  }
  throw OptionError(join("unknown data set ", quote(name), "; expected one of ", names));
}

std::string in_folder(std::string command, const std::string& folder) {
  constexpr std::string_view kPlaceholder = "FOLDER";
  const bool plain = std::all_of(folder.begin(), folder.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("/._-+@").find(c) != std::string_view::npos;
  });
  std::string shown;
  for (const char c : folder) shown += c == '\'' ? std::string("'\\''") : std::string(1, c);
  if (!plain) shown = "'" + shown + "'";
  for (size_t at = 0; (at = command.find(kPlaceholder, at)) != command.npos; at += shown.size()) {
    command.replace(at, kPlaceholder.size(), shown);
  }
  return command;
}

}  // namespace lase
