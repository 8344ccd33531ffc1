#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <initializer_list>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "lase/base/attributes.h"
#include "lase/base/string_table.h"
#include "lase/graph/build.h"
#include "lase/graph/graph.h"
#include "lase/ingest/format.h"

namespace lase {

using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

// Removes a file, or a folder with its contents. std::filesystem::remove_all crashes with some
// releases of torch, whose libraries export a function of the same name.
void remove_all(const std::string& path);

// Test fixture with a temporary folder, which is removed at the end.
class FolderTest : public testing::Test {
 protected:
  FolderTest();
  ~FolderTest() override;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Writes a file, creating its parent folders, and returns its path.
  std::string write(const std::string& name, std::string_view text) const;
  std::string write_gz(const std::string& name, std::string_view text) const;
  // Sorted names of all files under the folder.
  Strings files() const;

 private:
  std::string folder_;
};

// Limits the memory that this process can allocate, beyond what it uses now, while it exists.
class MemoryLimit {
 public:
  explicit MemoryLimit(int64_t bytes);
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit();

 private:
  rlimit previous_{};
};

// Compresses a text with gzip.
std::string gzip(std::string_view text);

// Contents of a .npy file with the given header fields.
std::string npy(const std::string& descr, const std::string& shape, std::string_view bytes,
                bool fortran_order = false);

// The values as raw bytes.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Contents of a safetensors file with this header, valid or not.
std::string safetensors(std::string_view header, std::string_view data);

// Expects an Error whose message is one line that contains every part.
void expect_error(const std::function<void()>& call, std::initializer_list<std::string> parts,
                  std::source_location where = std::source_location::current());

// Reads input of a format, with arguments as on the command line: {"links.csv", "--directed"}.
RawGraph read_format(const std::string& format, const Strings& arguments,
                     const Schema* schema = nullptr);
// The same, then builds the graph.
BuiltGraph import(const std::string& format, const Strings& arguments,
                  const Schema* schema = nullptr);
Graph import_graph(const std::string& format, const Strings& arguments,
                   const Schema* schema = nullptr);

// Lookups by name that return plain values.
Strings texts(const StringTable& table);
Floats row(const Attributes& matrix, int64_t row);
int64_t node_of(const Graph& graph, std::string_view name);
Strings neighbors(const Graph& graph, std::string_view name);
// Attributes of the first arc from u to v; the test fails if there is none.
Floats arc(const Graph& graph, std::string_view u, std::string_view v);
// All contents of a graph as JSON, to compare and print.
nlohmann::json contents(const Graph& graph);

struct CliResult {
  int code = -1;
  std::string out;
  std::string err;

  nlohmann::json json() const;  // parses the last line of out
};

// The program, running in a process of its own. It is killed when this object is destroyed.
class RunningCli {
 public:
  // With additional environment variables, such as "RANK=1".
  explicit RunningCli(const Strings& arguments, const Strings& environment = {});
  RunningCli(const RunningCli&) = delete;
  RunningCli& operator=(const RunningCli&) = delete;
  ~RunningCli();

  pid_t pid() const { return child_; }
  bool running();
  // Sends a signal (0 = none), and waits for the process to exit. The exit code after a signal is
  // 128 + signal.
  CliResult end(int signal = 0);

 private:
  pid_t child_ = 0;  // 0 after it has exited
  int status_ = 0;
  std::FILE* out_;
  std::FILE* err_;
};

CliResult run_cli(const Strings& arguments, const Strings& environment = {});
// Expects the result of bad input: exit code 1, empty stdout, one line on stderr that starts with
// "lase: " and contains every part.
void expect_rejected(const CliResult& result, std::initializer_list<std::string> parts,
                     std::source_location where = std::source_location::current());
// The same for a bad command line: exit code 2.
void expect_bad_usage(const CliResult& result, std::initializer_list<std::string> parts,
                      std::source_location where = std::source_location::current());

}  // namespace lase
