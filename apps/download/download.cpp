#include "download/download.h"

#include <filesystem>
#include <sstream>
#include <utility>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/ingest/table.h"

#include "common/sha256.h"
#include "download/fetch.h"

namespace lase {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDigits = 64;

bool is_sum(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// SHA256SUMS: lines of checksum, two spaces (or a space and an asterisk), name.
class SumFile {
 public:
  explicit SumFile(const std::string& folder) : path_(folder + "/SHA256SUMS") {
    if (!fs::exists(path_)) return;
    std::istringstream text(read_file(path_));
    for (std::string line; std::getline(text, line);) lines_.push_back(line);
  }

  const std::string& path() const { return path_; }

  // The checksum of a file, or empty.
  std::string find(const std::string& name) const {
    for (const auto& line : lines_) {
      if (names(line, name)) return line.substr(0, kDigits);
    }
    return "";
  }

  void set(const std::string& name, const std::string& sum) {
    if (find(name) == sum) return;
    std::erase_if(lines_, [&](const auto& line) { return names(line, name); });
    lines_.push_back(sum + "  " + name);
    std::string text;
    for (const auto& line : lines_) text += line + "\n";
    write_file(path_, text);
  }

 private:
  static bool names(const std::string& line, const std::string& name) {
    if (line.size() != kDigits + 2 + name.size() || !is_sum(line.substr(0, kDigits))) return false;
    const std::string rest = line.substr(kDigits);
    return rest == "  " + name || rest == " *" + name;
  }

  std::string path_;
  std::vector<std::string> lines_;  // including those of other files
};

// The download folder; if it was created and is still empty at the end, it is removed again.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) { made_ = make_folder(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code not_empty;
    if (made_) fs::remove(path_, not_empty);
  }

 private:
  std::string path_;
  bool made_ = false;
};

// The checksum that a file should have, and its source.
struct Expected {
  std::string sum;
  std::string source;
};

Expected expected_sum(const RemoteFile& file, const SumFile& sums, const std::string& given) {
  if (!given.empty()) return {.sum = given, .source = "given by --sha256"};
  if (!file.sha256.empty()) return {.sum = file.sha256, .source = "published"};
  return {.sum = sums.find(file.name), .source = "recorded in " + sums.path()};
}

std::string url_of(const RemoteFile& file, std::string mirror) {
  if (mirror.empty()) return file.url;
  while (mirror.ends_with('/')) mirror.pop_back();
  return mirror + "/" + file.name;
}

// Known sizes are approximate; a much larger file is not the intended one.
int64_t most_bytes(const RemoteFile& file) {
  constexpr int64_t kSlack = 16 << 20;
  return 4 * file.bytes + kSlack;
}

DownloadedFile fetch_file(const RemoteFile& file, const std::string& path, const Expected& expected,
                          const DownloadOptions& options) {
  AtomicFile target(path);
  Sha256 sum;
  int64_t size = 0;
  FetchRequest request = {.url = url_of(file, options.mirror),
                          .ca_file = options.ca_file,
                          .connect_seconds = options.connect_seconds,
                          .stall_seconds = options.stall_seconds,
                          .most_bytes = most_bytes(file),
                          .stop = options.stop};
  request.begin = [&](int64_t total) { target.reserve(total); };
  request.write = [&](std::span<const std::byte> bytes) {
    target.write(bytes);
    sum.add(bytes);
    size += static_cast<int64_t>(bytes.size());
  };
  if (options.progress) {
    request.progress = [&](int64_t received, int64_t total) {
      options.progress({.file = file.name, .received = received, .total = total});
    };
  }
  fetch(request);
  require(size > 0, request.url, ": the file is empty");
  const std::string found = sum.hex();
  require(expected.sum.empty() || found == expected.sum, path, ": not saved: ", request.url,
          " has SHA-256 checksum ", found, ", expected ", expected.sum, " (", expected.source, ")");
  target.commit();
  return {.path = path,
          .bytes = size,
          .sha256 = found,
          .fetched = true,
          .checked = !expected.sum.empty()};
}

DownloadedFile download_file(const RemoteFile& file, const std::string& folder, SumFile& sums,
                             const DownloadOptions& options) {
  const std::string path = folder + "/" + file.name;
  const Expected expected = expected_sum(file, sums, lower_case(options.sha256));
  const bool there = !expected.sum.empty() && fs::is_regular_file(path);
  DownloadedFile result;
  if (there && sha256_of_file(path) == expected.sum) {
    result = {.path = path,
              .bytes = static_cast<int64_t>(fs::file_size(path)),
              .sha256 = expected.sum,
              .fetched = false,
              .checked = true};
  } else {
    result = fetch_file(file, path, expected, options);
  }
  sums.set(file.name, result.sha256);
  return result;
}

}  // namespace

std::vector<DownloadedFile> download(const std::vector<RemoteFile>& files,
                                     const std::string& folder, const DownloadOptions& options) {
  if (!options.sha256.empty()) {
    require_option(is_sum(lower_case(options.sha256)), "--sha256 ", quote(options.sha256),
                   ": must be 64 hexadecimal digits");
    require_option(files.size() == 1, "--sha256: applies to a single file, but there are ",
                   files.size(), " files to download");
  }
  const Folder made(folder);
  SumFile sums(folder);
  std::vector<DownloadedFile> results;
  results.reserve(files.size());
  for (const auto& file : files) results.push_back(download_file(file, folder, sums, options));
  return results;
}

}  // namespace lase
