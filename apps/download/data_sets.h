#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lase {

// A file somewhere in the network.
struct RemoteFile {
  std::string url;
  std::string name;      // in the folder it is fetched into
  std::string sha256{};  // empty where nobody has published it
  int64_t bytes = 0;     // about so many
};

// A public data set that lase can import. In commands FOLDER stands for where the files are.
struct DataSet {
  std::string name;
  std::string summary;
  std::vector<RemoteFile> files;
  // Makes what the import needs of the files, or is null.
  void (*finish)(const std::string& folder) = nullptr;
  std::string unpack{};  // a command to give before the import, or empty
  std::string import;

  int64_t bytes() const;
};

const std::vector<DataSet>& data_sets();
// Throws Error with the names there are.
const DataSet& find_data_set(std::string_view name);

// The command with the folder in its place, in quotes where the shell needs them.
std::string in_folder(std::string command, const std::string& folder);

// Writes people.csv for SNAP's e-mails: the department of each person by the number that the list
// with times gives them.
void join_email_departments(const std::string& folder);

}  // namespace lase
