// Text tables may be pipes, which can be read only once.

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <memory>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "lase/base/error.h"
#include "lase/ingest/text_stream.h"

#include "support.h"

namespace lase {
namespace {

// Creates a named pipe, and writes the text to it once it is opened for reading; at the end it no
// longer waits. The first bytes are written one by one.
class PipeWriter {
 public:
  PipeWriter(const std::string& path, std::string text) {
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("cannot create " + path);
    thread_ = std::jthread([path, text = std::move(text)](const std::stop_token& stop) {
      sigset_t broken_pipe;
      ::sigemptyset(&broken_pipe);
      ::sigaddset(&broken_pipe, SIGPIPE);
      ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
      const int descriptor = open(path, stop);
      if (descriptor < 0) return;
      constexpr size_t kSingle = 4;
      for (size_t at = 0; at < text.size();) {
        const size_t size = at < kSingle ? 1 : text.size() - at;
        const ssize_t written = ::write(descriptor, text.data() + at, size);
        if (written <= 0) break;
        at += static_cast<size_t>(written);
        if (at <= kSingle) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      ::close(descriptor);
    });
  }

 private:
  static int open(const std::string& path, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
      if (descriptor >= 0) {
        ::fcntl(descriptor, F_SETFL, 0);  // from here on, writing waits for the reader
        return descriptor;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return -1;
  }
  std::jthread thread_;
};

class Pipe : public FolderTest {
 protected:
  // Imports files, then the same contents through pipes, plain and compressed.
  void expect_same(const std::string& format, const std::map<std::string, std::string>& texts,
                   const Strings& arguments) const {
    const auto read = [&](const std::string& folder) {
      Strings words = arguments;
      for (auto& word : words) {
        if (texts.contains(word)) word = path(folder + "/" + word);
      }
      return contents(import_graph(format, words));
    };
    for (const auto& [name, text] : texts) write("files/" + name, text);
    const auto expected = read("files");
    for (const bool compressed : {false, true}) {
      const std::string folder = compressed ? "compressed" : "plain";
      std::filesystem::create_directory(path(folder));
      std::vector<std::unique_ptr<PipeWriter>> writers;
      writers.reserve(texts.size());
      for (const auto& [name, text] : texts) {
        writers.push_back(std::make_unique<PipeWriter>(path(folder + "/" + name),
                                                       compressed ? gzip(text) : text));
      }
      EXPECT_EQ(read(folder), expected) << folder;
    }
  }
};

TEST_F(Pipe, StreamsTextInPieces) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  for (const bool compressed : {false, true}) {
    const std::string name = compressed ? "a.gz" : "a";
    const PipeWriter writer(path(name), compressed ? gzip(text) : text);
    TextStream stream(path(name));
    std::string all;
    for (std::string block; stream.next(block, 1000);) all += block;
    EXPECT_TRUE(all == text) << name;
  }
}

TEST_F(Pipe, LinksNodesAndFeatures) {
  // Longer than the part that is read to detect the format, and than the buffer of a pipe.
  std::string links = "# a comment\nsource,target,amount\n";
  std::string nodes = "id,team\n";
  for (int i = 0; i < 20'000; ++i) links += join(i % 100, ",", i * 31 % 97, ",", i % 7, "\n");
  for (int i = 0; i < 100; ++i) nodes += join(i, ",", i % 2 == 0 ? "x" : "y", "\n");
  expect_same("links",
              {{"links.csv", links},
               {"nodes.csv", nodes},
               {"features.csv", "node,feature,value\n3,red,1\n4,blue,2\n"},
               {"names.txt", "blue\nred\n"}},
              {"links.csv", "--nodes", "nodes.csv", "--label", "team", "--features", "features.csv",
               "--feature-names", "names.txt"});
}

TEST_F(Pipe, ContactsTypedLinksAndSets) {
  expect_same("contacts", {{"contacts", "1 2 100\n2 3 200\n1 3 300\n"}}, {"contacts"});
  expect_same("typed", {{"links", "a,b,likes\nb,c,knows\n"}, {"relations", "knows\nlikes\n"}},
              {"links", "--relations", "relations"});
  expect_same("sets", {{"papers", "venue\tauthors\nx\tAnn;Bob\ny\tBob;Ann\nx\tCid;Ann\n"}},
              {"papers", "--members", "authors", "--label", "venue"});
}

TEST_F(Pipe, ReportsErrorsLikeAFile) {
  const PipeWriter empty(path("empty"), "");
  expect_error([&] { import("links", {path("empty")}); }, {"empty: is empty"});
  const PipeWriter bad(path("bad"), "source,target,amount\na,b,1\nb,c,lots\n");
  expect_error([&] { import("links", {path("bad")}); }, {"bad: line 3: column 'amount'"});
  const std::string whole = gzip("source,target\na,b\n");
  const PipeWriter truncated(path("truncated"), whole.substr(0, whole.size() - 3));
  expect_error([&] { import("links", {path("truncated")}); },
               {"truncated: the gzip data ends too early"});
}

// Features in binary are mapped.
TEST_F(Pipe, BinaryFilesMustBeRegular) {
  const auto nodes = write("nodes.csv", "id\na\nb\n");
  const auto links = write("links.csv", "a,b\n");
  ASSERT_EQ(::mkfifo(path("features.npy").c_str(), 0600), 0);
  expect_error(
      [&] {
        import("links", {links, "--nodes", nodes, "--features", path("features.npy")});
      },
      {"features.npy: is not a regular file"});
}

}  // namespace
}  // namespace lase
