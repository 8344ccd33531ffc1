#pragma once

#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <initializer_list>
#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/attributes.h"
#include "lase/base/string_table.h"
#include "lase/graph/build.h"
#include "lase/graph/graph.h"
#include "lase/ingest/format.h"

namespace lase {

using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

// A test with a folder of its own that goes away with it.
class FolderTest : public testing::Test {
 protected:
  FolderTest();
  ~FolderTest() override;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  // Writes a file, making the folders on its way, and returns its path.
  std::string write(const std::string& name, std::string_view text) const;
  std::string write_gz(const std::string& name, std::string_view text) const;
  // Names of all files under the folder, sorted.
  Strings files() const;

 private:
  std::string folder_;
};

// The text as gzip.
std::string gzip(std::string_view text);

// A .npy file with a header of the given fields.
std::string npy(const std::string& descr, const std::string& shape, std::string_view bytes,
                bool fortran_order = false);

// The bytes of values, as they lie in memory.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A safetensors file with that header, whatever it says.
std::string safetensors(std::string_view header, std::string_view data);

// Expects an Error whose message is one line that holds every part.
void expect_error(const std::function<void()>& call, std::initializer_list<std::string> parts,
                  std::source_location where = std::source_location::current());

// Reads files of a format, with arguments as on the command line: {"links.csv", "--directed"}.
RawGraph read_format(const std::string& format, const Strings& arguments,
                     const Like* like = nullptr);
// Reads and builds, with arguments as on the command line: {"links.csv", "--directed"}.
BuiltGraph import(const std::string& format, const Strings& arguments, const Like* like = nullptr);
Graph import_graph(const std::string& format, const Strings& arguments, const Like* like = nullptr);

// A graph as plain values, to look things up by name.
Strings texts(const StringTable& table);
Floats row(const Attributes& matrix, int64_t row);
int64_t node_of(const Graph& graph, std::string_view name);
Strings neighbours(const Graph& graph, std::string_view name);
// Attributes of the first arc from u to v; the test fails where there is none.
Floats arc(const Graph& graph, std::string_view u, std::string_view v);
// Everything that makes a graph, in a form that compares and prints.
nlohmann::json contents(const Graph& graph);

struct CliResult {
  int code = -1;
  std::string out;
  std::string err;

  nlohmann::json json() const;  // the last line of out
};

CliResult run_cli(const Strings& arguments);
// Expects what every bad input gives: exit 1, nothing on stdout, one line on stderr that starts
// with "lase: " and holds every part.
void expect_refused(const CliResult& result, std::initializer_list<std::string> parts,
                    std::source_location where = std::source_location::current());

}  // namespace lase
