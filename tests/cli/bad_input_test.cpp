// Bad input ends with exit code 1 and one sentence on stderr, and leaves no file behind.

#include <cstdlib>
#include <filesystem>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lase/base/error.h"
#include "lase/base/file.h"

#include "support.h"

namespace lase {
namespace {

class BadInput : public FolderTest {
 protected:
  // Imports `text` as links and expects an error that leaves nothing behind.
  void expect_bad(const std::string& text, std::initializer_list<std::string> parts,
                  Strings more = {},
                  std::source_location where = std::source_location::current()) const {
    more.insert(more.begin(), {"import", "links", write("links.csv", text), "--out", out()});
    lase::expect_rejected(run_cli(more), parts, where);
    EXPECT_FALSE(std::filesystem::exists(out()));
    EXPECT_EQ(files(), more.size() > 5 ? files() : Strings{"links.csv"});
  }
  std::string out() const { return path("g.graph"); }
};

TEST_F(BadInput, MissingFile) {
  expect_rejected(run_cli({"import", "links", path("none.csv"), "--out", out()}),
                  {"none.csv: cannot be opened: No such file or directory"});
  EXPECT_EQ(files(), Strings{});
}

TEST_F(BadInput, WrongColumn) {
  expect_bad("source,target,amount\na,b,1\n", {"links.csv: has no column 'price'", "amount"},
             {"--attributes", "price"});
}

TEST_F(BadInput, TextInANumericColumn) {
  expect_bad("source,target,amount\na,b,1\nb,c,lots\n",
             {"links.csv: line 3: column 'amount' is 'lots', expected a finite number"});
}

TEST_F(BadInput, Infinity) {
  expect_bad("source,target,amount\na,b,1\nb,c,-inf\n",
             {"links.csv: line 3: column 'amount' is '-inf'"});
}

TEST_F(BadInput, MissingNumbersThatMustNotBe) {
  expect_bad("source,target,amount\na,b,1\nb,c,NaN\n",
             {"links.csv: line 3: column 'amount' is 'NaN'", "--missing"}, {"--missing", "fail"});
}

TEST_F(BadInput, ShortRow) {
  expect_bad("source,target,amount\na,b,1\nb,c\n", {"line 3: has 2 columns, expected 3"});
}

TEST_F(BadInput, UnknownSplitName) {
  const auto nodes = write("nodes.csv", "id,part\na,train\nb,tset\n");
  expect_bad("source,target\na,b\n", {"nodes.csv: line 3", "'tset'"},
             {"--nodes", nodes, "--split", "part"});
}

TEST_F(BadInput, UnknownNode) {
  const auto nodes = write("nodes.csv", "id\na\nb\n");
  expect_bad("source,target\na,b\nb,z\n", {"links.csv: line 3: node 'z'", "nodes.csv"},
             {"--nodes", nodes});
}

TEST_F(BadInput, EmptyFile) { expect_bad("", {"links.csv: is empty"}); }

TEST_F(BadInput, TruncatedGzip) {
  std::string text = "source,target\n";
  for (int i = 0; i < 10'000; ++i) text += join(i, ",", i * 31 % 997, "\n");
  const auto whole = gzip(text);
  expect_bad(whole.substr(0, whole.size() / 2), {"links.csv: the gzip data ends too early"});
}

TEST_F(BadInput, CorruptGzip) {
  auto whole = gzip("source,target\na,b\n");
  whole[whole.size() - 6] ^= 1;
  expect_bad(whole, {"links.csv: the gzip data is damaged"});
}

TEST_F(BadInput, BinaryData) {
  expect_bad(std::string("source,target\na,\0b\n", 18), {"zero byte"});
  expect_bad("source,target,amount\na,b,\xFF\x01\n", {"line 2", "'\\xff\\x01'"},
             {"--types", "amount=number"});
}

TEST_F(BadInput, FolderInsteadOfAFile) {
  expect_rejected(run_cli({"import", "links", path("."), "--out", out()}), {"is a folder"});
}

TEST_F(BadInput, DeviceInsteadOfAFile) {
  for (const std::string device : {"/dev/zero", "/dev/null"}) {
    expect_rejected(run_cli({"import", "links", device, "--out", out()}),
                    {device + ": is a device"});
  }
}

TEST_F(BadInput, UnwritableOutput) {
  const auto links = write("links.csv", "source,target\na,b\n");
  expect_rejected(run_cli({"import", "links", links, "--out", path("none/g.graph")}),
                  {"none/g.graph: cannot be written"});
  expect_rejected(run_cli({"import", "links", links, "--out", path(".")}), {"not a regular file"});
}

// Unusual, but valid.
TEST_F(BadInput, AcceptsWindowsLineEndsByteOrderMarksQuotesAndLongIds) {
  const auto links = write("links.csv",
                           "\xEF\xBB\xBFsource,target,amount\r\n"
                           "\"Ann O'Hara\",18446744073709551615,1\r\n"
                           "18446744073709551614,\"say \"\"hi\"\"\",2\r\n");
  const auto result = run_cli({"import", "links", links, "--out", out(), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(texts(open_graph(out()).nodes.names),
            (Strings{"Ann O'Hara", "18446744073709551615", "18446744073709551614", "say \"hi\""}));
}

class BadGraph : public FolderTest {
 protected:
  BadGraph() {
    const auto links = write("links.csv", "source,target,amount\na,b,1\nb,c,2\n");
    EXPECT_EQ(run_cli({"import", "links", links, "--out", path("g.graph")}).code, 0);
    good_ = read_file(path("g.graph"));
  }
  void expect_bad(const std::string& bytes, std::initializer_list<std::string> parts,
                  std::source_location where = std::source_location::current()) const {
    expect_rejected(run_cli({"info", write("bad.graph", bytes)}), parts, where);
  }
  std::string good_;
};

TEST_F(BadGraph, Truncated) {
  for (const size_t size : {size_t{0}, size_t{100}, good_.size() - 1}) {
    expect_bad(good_.substr(0, size), {"bad.graph: "});
  }
}

TEST_F(BadGraph, InconsistentHeader) {
  auto longer = good_;
  longer[6] = 1;
  expect_bad(longer, {"bad.graph: is not a safetensors file, or it is truncated"});
  auto shape = good_;
  const auto at = shape.find("\"shape\":[3]");
  ASSERT_NE(at, shape.npos);
  shape[at + 9] = '4';
  expect_bad(shape, {"bad.graph: the shape [4]", "does not match"});
}

TEST_F(BadGraph, NewerVersion) {
  auto later = good_;
  const auto at = later.find("\"version\":\"1\"");
  ASSERT_NE(at, later.npos);
  later[at + 11] = '2';
  expect_bad(later, {"bad.graph: has graph file version '2'"});
}

TEST_F(BadGraph, IndexOutOfRange) {
  const auto graph = open_graph(path("g.graph"));
  std::string damaged = good_;
  // The neighbors of a, b and c are {1}, {0, 2} and {1}, stored as int32.
  const std::string neighbors = bytes_of(std::vector<int32_t>{1, 0, 2, 1});
  const auto at = damaged.find(neighbors);
  ASSERT_NE(at, damaged.npos);
  damaged[at] = 3;
  expect_bad(damaged, {"bad.graph: is damaged: the array 'neighbor' does not match its checksum"});
  // Indices are checked even in files without checksums.
  const std::string key = "checksums";
  damaged.replace(damaged.find(key), key.size(), "unchecked");
  expect_bad(damaged, {"bad.graph: neighbor[0] is 3, expected 0 to 2"});
}

// A 64 KiB file system, if the user may mount one.
class FullDisk : public FolderTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(path("disk"));
    if (::mount("tmpfs", path("disk").c_str(), "tmpfs", 0, "size=64k") != 0) {
      GTEST_SKIP() << "a small file system cannot be mounted (needs root)";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount(path("disk").c_str());
  }

 private:
  bool mounted_ = false;
};

TEST_F(FullDisk, KeepsTheOldGraphAndNothingElse) {
  const auto small = write("small.csv", "source,target\na,b\n");
  std::string text = "source,target,amount\n";
  for (int i = 0; i < 20'000; ++i) text += join(i, ",", i * 31 % 997, ",0.5\n");
  const auto large = write("large.csv", text);
  ASSERT_EQ(run_cli({"import", "links", small, "--out", path("disk/g.graph")}).code, 0);
  const auto before = read_file(path("disk/g.graph"));
  expect_rejected(run_cli({"import", "links", large, "--out", path("disk/g.graph")}),
                  {"disk/g.graph: cannot be written: No space left on device", "bytes needed"});
  EXPECT_EQ(files(), (Strings{"disk/g.graph", "large.csv", "small.csv"}));
  EXPECT_EQ(read_file(path("disk/g.graph")), before);
}

// Runs the program with its output redirected by a shell; returns the exit code.
int shell(const std::string& arguments) {
  const int status = std::system(join(LASE_CLI, " ", arguments).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Files : public FolderTest {
 protected:
  std::string graph(const std::string& name = "g.graph") const {
    const auto links = write("links.csv", "source,target\na,b\nb,c\n");
    EXPECT_EQ(run_cli({"import", "links", links, "--out", path(name)}).code, 0);
    return path(name);
  }
  std::string pipe() const {
    EXPECT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    return path("pipe");
  }
};

TEST_F(Files, ThatCannotBeWrittenAreReported) {
  const std::string errors = path("errors");
  for (const std::string flags : {"", " --json"}) {
    EXPECT_EQ(shell(join("info ", graph(), flags, " > /dev/full 2> ", errors)), 1);
    EXPECT_NE(read_file(errors).find("the output cannot be written"), std::string::npos);
  }
}

TEST_F(Files, OfTheWrongKindDoNotBlock) {
  const std::string waiting = pipe();
  expect_rejected(run_cli({"info", waiting}), {"pipe: is not a regular file"});
  expect_rejected(run_cli({"info", graph(), "--config", waiting}), {"pipe: is not a regular file"});
  expect_rejected(run_cli({"info", graph(), "--config", "/dev/zero"}),
                  {"/dev/zero: is not a regular file"});
  expect_rejected(run_cli({"import", "links", path("links.csv"), "--like", waiting, "--out",
                           path("new.graph")}),
                  {"pipe: is not a regular file"});
}

TEST_F(Files, BehindASymbolicLinkAreReplaced) {
  const std::string old = graph("old.graph");
  write("old.graph", "something else");
  std::filesystem::create_symlink("old.graph", path("link.graph"));
  graph("link.graph");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.graph")));
  EXPECT_EQ(run_cli({"info", old}).code, 0);
}

TEST_F(Files, WithLongNamesAreWritten) {
  const std::string name(250, 'n');
  EXPECT_EQ(run_cli({"info", graph(name)}).code, 0);
  const auto longer = path(std::string(300, 'n'));
  expect_rejected(run_cli({"import", "links", path("links.csv"), "--out", longer}),
                  {"cannot be written: File name too long"});
}

TEST_F(Files, CannotSendEscapeSequencesToATerminal) {
  const auto links = write("links.csv", "source,target\na,b\nb,c\n");
  const auto nodes = write("nodes.csv", "id,team\na,\x1b[31mred\nb,blue\nc,blue\n");
  const auto result = run_cli(
      {"import", "links", links, "--nodes", nodes, "--label", "team", "--out", path("g.graph")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_NE(result.out.find("\\x1b[31mred"), std::string::npos) << result.out;
}

TEST_F(Files, WithTwoColumnsOfOneNameAreRejected) {
  const auto links = write("links.csv", "source,target,amount,amount\na,b,1,2\n");
  expect_rejected(run_cli({"import", "links", links, "--out", path("g.graph")}),
                  {"links.csv: has two columns named 'amount'"});
}

}  // namespace
}  // namespace lase
