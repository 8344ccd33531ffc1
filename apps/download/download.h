#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "download/data_sets.h"

namespace lase {

struct DownloadProgress {
  std::string file;
  int64_t received = 0;
  int64_t total = 0;  // 0 where the server does not say
};

struct DownloadOptions {
  std::string mirror{};   // files are looked for at MIRROR/NAME instead
  std::string sha256{};   // demanded of the file, whatever is known; for a single file only
  std::string ca_file{};  // certificates to trust instead of the system's
  double connect_seconds = 30;
  int64_t stall_seconds = 60;  // gives up where nothing arrives for so long
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const DownloadProgress&)> progress{};
};

struct DownloadedFile {
  std::string path;
  int64_t bytes = 0;
  std::string sha256;
  bool fetched = false;  // false: it was there already
  bool checked = false;  // false: no sum was known to check it against
};

// Fetches the files into the folder, which is made where it is missing. A file appears whole or not
// at all, and only with the sum it should have: that of the options, the published one, or the one
// that FOLDER/SHA256SUMS holds from the first time. Files that are there with that sum are not
// fetched again. SHA256SUMS (for sha256sum -c) gets a line for each file.
std::vector<DownloadedFile> download(const std::vector<RemoteFile>& files,
                                     const std::string& folder,
                                     const DownloadOptions& options = {});

}  // namespace lase
