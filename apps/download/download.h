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
  int64_t total = 0;  // 0: unknown
};

struct DownloadOptions {
  std::string mirror{};   // download from MIRROR/NAME instead
  std::string sha256{};   // overrides the known checksum; for a single file only
  std::string ca_file{};  // certificates to trust instead of the system's
  double connect_seconds = 30;
  int64_t stall_seconds = 60;  // gives up if nothing arrives for this long
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const DownloadProgress&)> progress{};
};

struct DownloadedFile {
  std::string path;
  int64_t bytes = 0;
  std::string sha256;
  bool fetched = false;  // false: already present
  bool checked = false;  // false: no checksum was known
};

// Downloads the files into the folder, which is created if necessary. A file is saved only if it is
// complete and matches its checksum: the one in the options, the published one, or the one recorded
// in FOLDER/SHA256SUMS by the first download. Files that already match are not downloaded again.
// SHA256SUMS (for sha256sum -c) has one line per file.
std::vector<DownloadedFile> download(const std::vector<RemoteFile>& files,
                                     const std::string& folder,
                                     const DownloadOptions& options = {});

}  // namespace lase
