#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lase {

struct RemoteFile {
  std::string url;
  std::string name;      // file name in the download folder
  std::string sha256{};  // empty: not published
  int64_t bytes = 0;     // approximate size
};

// A public data set that lase can import. FOLDER in the commands stands for the download folder.
struct DataSet {
  std::string name;
  std::string summary;
  std::vector<RemoteFile> files;
  // Prepares the downloaded files for the import; may be null.
  void (*finish)(const std::string& folder) = nullptr;
  std::string unpack{};  // command to run before the import, or empty
  std::string import;

  int64_t bytes() const;
};

const std::vector<DataSet>& data_sets();
// Throws Error with the available names.
const DataSet& find_data_set(std::string_view name);

// Replaces FOLDER in the command by the folder, quoted for the shell if necessary.
std::string in_folder(std::string command, const std::string& folder);

// Writes people.csv for SNAP's email data: the department of each person, by their id in the list
// with timestamps.
void join_email_departments(const std::string& folder);

}  // namespace lase
