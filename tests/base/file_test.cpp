#include "lase/base/file.h"

#include <csignal>
#include <filesystem>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lase/base/error.h"

#include "support.h"

namespace lase {
namespace {

using File = FolderTest;

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Runs a test body in a process that cannot write files longer than `limit`, which fails like a
// full disk. Returns the error message, or "no error".
std::string message_with_file_limit(rlim_t limit, const std::function<void()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit both = {limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &both);
    std::string message = "no error";
    try {
      body();
    } catch (const Error& error) {
      message = error.what();
    }
    const auto written = ::write(ends[1], message.data(), message.size());
    ::_exit(written < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::string message(1000, '\0');
  const auto got = ::read(ends[0], message.data(), message.size());
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  message.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return message;
}

TEST_F(File, IsWrittenAndReadBack) {
  const std::string text("a\0b\n", 4);
  write_file(path("a"), text);
  EXPECT_EQ(read_file(path("a")), text);
  write_file(path("a"), "");
  EXPECT_EQ(read_file(path("a")), "");
  EXPECT_EQ(files(), Strings{"a"});
}

TEST_F(File, AppearsOnlyWithCommit) {
  {
    AtomicFile file(path("a"));
    file.write(as_bytes("text"));
  }
  EXPECT_EQ(files(), Strings{});
  AtomicFile file(path("a"));
  file.write(as_bytes("ab"));
  file.write(as_bytes("cd"));
  file.write_at(1, as_bytes("X"));
  file.commit();
  EXPECT_EQ(read_file(path("a")), "aXcd");
  EXPECT_EQ(files(), Strings{"a"});
}

TEST_F(File, KeepsTheOldContentsUntilCommit) {
  write_file(path("a"), "old");
  AtomicFile file(path("a"));
  file.write(as_bytes("new"));
  EXPECT_EQ(read_file(path("a")), "old");
  file.commit();
  EXPECT_EQ(read_file(path("a")), "new");
}

TEST_F(File, MappedFileSurvivesReplacement) {
  write_file(path("a"), "old");
  const auto mapped = MappedFile::open(path("a"));
  write_file(path("a"), "new and longer");
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(mapped->bytes().data()), 3), "old");
}

TEST_F(File, RespectsTheUmask) {
  const mode_t before = ::umask(027);
  write_file(path("a"), "x");
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST_F(File, IsNotWrittenOverAFolderOrADevice) {
  std::filesystem::create_directory(path("folder"));
  expect_error([&] { AtomicFile(path("folder")); }, {"folder", "not a regular file"});
  expect_error([] { AtomicFile("/dev/null"); }, {"/dev/null", "not a regular file"});
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_error([&] { AtomicFile(path("pipe")); }, {"pipe", "not a regular file"});
}

// A process that is killed between naming a finished file and moving it into place leaves its
// temporary file, which the next writer deletes.
TEST_F(File, DeletesWhatAKilledWriterLeft) {
  std::string temporary;
  {
    AtomicFile file(path("a"));
    file.write(as_bytes("new"));
    write("a/b", "a folder that is not empty cannot be replaced");
    expect_error([&] { file.commit(); }, {"a: cannot be written"});
    const Strings left = files();
    ASSERT_EQ(left.size(), 2U);
    temporary = left[0];
  }
  ASSERT_TRUE(temporary.starts_with(".lase-")) << temporary;
  remove_all(path("a"));
  write(temporary, "of a writer that no longer exists");
  write(".lase-of-another-file.part", "");
  write_file(path("a"), "text");
  EXPECT_EQ(files(), (Strings{".lase-of-another-file.part", "a"}));
}

TEST_F(File, HasTheContentsOfTheLastOfSeveralWriters) {
  AtomicFile first(path("a"));
  AtomicFile second(path("a"));
  first.write(as_bytes("first"));
  second.write(as_bytes("second"));
  // A finished file of another writer, not yet moved into place.
  write("a/b", "a folder that is not empty cannot be replaced");
  expect_error([&] { first.commit(); }, {"a: cannot be written"});
  remove_all(path("a"));
  EXPECT_EQ(files().size(), 1U);
  second.commit();
  EXPECT_EQ(read_file(path("a")), "second");
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(File, LeavesNothingBehindIfCommitFails) {
  {
    AtomicFile file(path("a"));
    file.write(as_bytes("new"));
    write("a/b", "a folder that is not empty cannot be replaced");
    expect_error([&] { file.commit(); }, {"a: cannot be written"});
  }
  EXPECT_EQ(files(), Strings{"a/b"});
}

TEST_F(File, NeedsItsFolder) {
  expect_error([&] { AtomicFile(path("none/a")); }, {"none/a: cannot be written", "No such file"});
}

TEST_F(File, ReadErrorsNameTheFile) {
  expect_error([&] { read_file(path("none")); }, {"none: cannot be opened: No such file"});
  std::filesystem::create_directory(path("folder"));
  expect_error([&] { read_file(path("folder")); }, {"folder: is not a regular file"});
}

TEST_F(File, ReportsAFullDiskWhenReserving) {
  write_file(path("a"), "old");
  const auto message = message_with_file_limit(4096, [&] {
    AtomicFile file(path("a"));
    file.reserve(1 << 20);
    file.commit();
  });
  EXPECT_NE(message.find("cannot be written"), message.npos) << message;
  EXPECT_NE(message.find("1048576 bytes needed"), message.npos) << message;
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(files(), Strings{"a"});
}

TEST_F(File, ReportsAFullDiskWhileWriting) {
  write_file(path("a"), "old");
  const auto message = message_with_file_limit(4096, [&] {
    TextWriter writer(path("a"));
    for (int i = 0; i < 1000; ++i) writer << "some text that fills the disk\n";
    writer.commit();
  });
  EXPECT_NE(message.find("cannot be written: File too large"), message.npos) << message;
  EXPECT_EQ(read_file(path("a")), "old");
  EXPECT_EQ(files(), Strings{"a"});
}

TEST_F(File, TextWriterWritesNumbersThatRoundTrip) {
  TextWriter writer(path("a"));
  writer << "x" << ',' << int64_t{-9223372036854775807 - 1} << ',' << 0.1F << ',' << 0.1 << ','
         << 1e-45F << ',' << std::numeric_limits<double>::max();
  writer.commit();
  EXPECT_EQ(read_file(path("a")), "x,-9223372036854775808,0.1,0.1,1e-45,1.7976931348623157e+308");
}

TEST_F(File, TextWriterQuotesFieldsThatNeedIt) {
  TextWriter writer(path("a"));
  for (const auto* text : {"plain", "", "a,b", "a b", "say \"hi\"", "#1", "ü"}) {
    writer.field(text) << '|';
  }
  writer.commit();
  EXPECT_EQ(read_file(path("a")), R"(plain|""|"a,b"|"a b"|"say ""hi"""|"#1"|ü|)");
}

TEST_F(File, TextWriterHoldsMoreThanItsBuffer) {
  TextWriter writer(path("a"));
  const std::string line(999, 'x');
  for (int i = 0; i < 3000; ++i) writer << line << '\n';
  writer.commit();
  EXPECT_EQ(read_file(path("a")).size(), 3'000'000u);
}

}  // namespace
}  // namespace lase
