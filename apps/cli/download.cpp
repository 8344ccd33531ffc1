#include "download/download.h"

#include <chrono>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>

#include "lase/base/format.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/interrupt.h"
#include "download/data_sets.h"

namespace {

using nlohmann::json;

struct DownloadFlags {
  std::string name;
  std::string folder;
  lase::DownloadOptions download;
};

// One line, rewritten on a terminal at most twice per second.
class ProgressLine {
 public:
  explicit ProgressLine(std::ostream& out) : out_(out) {}
  ~ProgressLine() {
    if (shown_) out_ << "\r\x1b[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const lase::DownloadProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (shown_ && now < next_) return;
    next_ = now + std::chrono::milliseconds(500);
    shown_ = true;
    out_ << "\r\x1b[K" << progress.file << "  " << lase::byte_size(progress.received);
    if (progress.total > 0) {
      out_ << " of " << lase::byte_size(progress.total) << " ("
           << 100 * progress.received / progress.total << " %)";
    }
    out_ << std::flush;
  }

 private:
  std::ostream& out_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_;
};

json set_json(const lase::DataSet& set, const std::string& folder) {
  return {{"name", set.name},
          {"summary", set.summary},
          {"unpack", lase::in_folder(set.unpack, folder)},
          {"import", lase::in_folder(set.import, folder)}};
}

json list_sets(std::ostream& out) {
  json all = json::array();
  for (const auto& set : lase::data_sets()) {
    out << fmt::format("{:<15}{:>9}  {}\n", set.name, lase::byte_size(set.bytes()), set.summary);
    all.push_back(set_json(set, set.name));
    all.back()["bytes"] = set.bytes();
  }
  return {{"sets", all}};
}

json file_json(const lase::DownloadedFile& file) {
  return {{"path", file.path},
          {"bytes", file.bytes},
          {"sha256", file.sha256},
          {"fetched", file.fetched},
          {"checked", file.checked}};
}

void show_file(const lase::DownloadedFile& file, std::ostream& out) {
  out << (file.fetched ? "downloaded       " : "already present  ") << file.path << ", "
      << lase::byte_size(file.bytes) << "\n                 SHA-256 " << file.sha256
      << (file.checked ? "" : ", recorded in SHA256SUMS (no published checksum to compare with)")
      << "\n";
}

json run_download(const DownloadFlags& flags, const Session& session) {
  if (flags.name.empty()) return list_sets(session.out());
  const lase::DataSet& set = lase::find_data_set(flags.name);
  std::string folder = flags.folder.empty() ? set.name : flags.folder;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  lase::DownloadOptions options = flags.download;
  const Interruptible interruptible;
  options.stop = &interrupted();
  std::vector<lase::DownloadedFile> files;
  {
    ProgressLine line(std::cerr);
    if (::isatty(STDERR_FILENO) != 0) {
      options.progress = [&](const lase::DownloadProgress& progress) { line.show(progress); };
    }
    files = lase::download(set.files, folder, options);
  }
  if (set.finish != nullptr) set.finish(folder);

  json result = set_json(set, folder);
  result["folder"] = folder;
  result["files"] = json::array();
  for (const auto& file : files) {
    show_file(file, session.out());
    result["files"].push_back(file_json(file));
  }
  session.out() << "next steps\n";
  for (const char* step : {"unpack", "import"}) {
    const auto command = result[step].get<std::string>();
    if (!command.empty()) session.out() << "  " << command << "\n";
  }
  return result;
}

}  // namespace

void add_download(CLI::App& app, Session& session) {
  auto flags = std::make_shared<DownloadFlags>();
  CLI::App* command =
      session.add_command(app, "download", command_summary("download"),
                          [flags, &session] { return run_download(*flags, session); });
  command->add_option("name", flags->name,
                      "Data set to download; if omitted, list the available data sets");
  command->add_option("--out", flags->folder,
                      "Folder to download into (default: the name of the data set)");
  command->add_option("--url", flags->download.mirror,
                      "Mirror to download from; files are expected at URL/FILE");
  command->add_option("--sha256", flags->download.sha256,
                      "Expected SHA-256 checksum, instead of the built-in one (only for data sets "
                      "with a single file)");
  command->add_option("--ca", flags->download.ca_file,
                      "File with trusted CA certificates (default: those of the system)");
  lase::OptionTable<lase::DownloadOptions> table;
  table.add("timeout", &lase::DownloadOptions::stall_seconds, lase::between(1, 86400),
            "Give up if no data arrives for this many seconds");
  add_flags(*command, table.bind(flags->download));
  command->footer(
      "Examples:\n"
      "  lase download                      # list the data sets\n"
      "  lase download email --out email    # then run the printed `lase import` command");
}
