#include "lase/ingest/text_stream.h"

#include <filesystem>

#include "support.h"

namespace lase {
namespace {

class TextStreamTest : public FolderTest {
 protected:
  static Strings blocks(const std::string& file, size_t size = TextStream::kBlock) {
    TextStream stream(file);
    Strings all;
    for (std::string block; stream.next(block, size);) all.push_back(block);
    return all;
  }
  static std::string text_of(const std::string& file, size_t size = TextStream::kBlock) {
    std::string text;
    for (const auto& block : blocks(file, size)) text += block;
    return text;
  }
};

TEST_F(TextStreamTest, GivesWholeLinesForAnyBlockSize) {
  const std::string text = "one\ntwo\n\nfour is longer\nlast";
  const auto file = write("a.txt", text);
  for (size_t size = 1; size < 40; ++size) {
    const auto all = blocks(file, size);
    std::string together;
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_FALSE(all[i].empty());
      EXPECT_TRUE(i + 1 == all.size() || all[i].back() == '\n') << size;
      together += all[i];
    }
    EXPECT_EQ(together, text) << size;
  }
}

TEST_F(TextStreamTest, RejectsDataAfterTheGzipData) {
  const std::string whole = gzip("a\nb\n");
  for (const std::string& more : {std::string("x"), std::string("source,target\n"),
                                  std::string("\0x", 2), std::string("\x1f")}) {
    expect_error([&] { text_of(write("a.gz", whole + more)); }, {"a.gz: the gzip data "});
  }
  EXPECT_EQ(text_of(write("padded.gz", whole + std::string(1000, '\0'))), "a\nb\n");
}

TEST_F(TextStreamTest, DetectsGzipRegardlessOfTheFileName) {
  const std::string text = "a,b\n1,2\n";
  EXPECT_EQ(text_of(write_gz("a.csv.gz", text)), text);
  EXPECT_EQ(text_of(write_gz("plain.csv", text)), text);
  EXPECT_EQ(text_of(write("plain.gz", text)), text);
}

TEST_F(TextStreamTest, ReadsConcatenatedGzipMembers) {
  EXPECT_EQ(text_of(write("a.gz", gzip("a\n") + gzip("b\n"))), "a\nb\n");
}

TEST_F(TextStreamTest, RejectsTruncatedGzip) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919 % 10'007) + "\n";
  const std::string whole = gzip(text);
  for (const size_t size : {whole.size() - 1, whole.size() - 8, whole.size() / 2, size_t{11}}) {
    expect_error([&] { text_of(write("a.gz", whole.substr(0, size))); },
                 {"a.gz: the gzip data ends too early"});
  }
}

TEST_F(TextStreamTest, RejectsDamagedGzip) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919 % 10'007) + "\n";
  const std::string whole = gzip(text);
  std::string checksum = whole;
  checksum[whole.size() - 6] ^= 1;
  expect_error([&] { text_of(write("a.gz", checksum)); }, {"a.gz: the gzip data is damaged"});
  std::string middle = whole;
  for (size_t i = 0; i < 64; ++i) middle[whole.size() / 2 + i] = '\xFF';
  expect_error([&] { text_of(write("a.gz", middle)); }, {"a.gz: the gzip data is damaged"});
}

TEST_F(TextStreamTest, SkipsAByteOrderMark) {
  EXPECT_EQ(text_of(write("a", "\xEF\xBB\xBFid\n")), "id\n");
  EXPECT_EQ(text_of(write_gz("b", "\xEF\xBB\xBFid\n")), "id\n");
  EXPECT_EQ(text_of(write("c", "\xEF\xBB\xBF")), "");
  EXPECT_EQ(text_of(write("d", "id\n\xEF\xBB\xBFid\n")), "id\n\xEF\xBB\xBFid\n");
}

TEST_F(TextStreamTest, RejectsZeroBytes) {
  expect_error([&] { text_of(write("a", std::string("id\n\0\n", 5))); },
               {"a: contains a zero byte"});
  expect_error([&] { text_of(write("utf16", std::string("\xFF\xFEi\0d\0", 6))); }, {"zero byte"});
}

TEST_F(TextStreamTest, RejectsMissingFilesAndFolders) {
  expect_error([&] { TextStream stream(path("none")); }, {"none: cannot be opened: No such file"});
  std::filesystem::create_directory(path("folder"));
  expect_error([&] { TextStream stream(path("folder")); }, {"folder: is a folder"});
}

TEST_F(TextStreamTest, RejectsDevices) {
  for (const std::string device : {"/dev/zero", "/dev/null", "/dev/full"}) {
    expect_error([&] { TextStream stream(device); }, {device + ": is a device, expected a file"});
  }
}

TEST_F(TextStreamTest, ReturnsLinesThatWerePutBack) {
  TextStream stream(write("a", "\xEF\xBB\xBFone\ntwo\nthree\n"));
  std::string block;
  ASSERT_TRUE(stream.next(block, 7));
  EXPECT_EQ(block, "one\n");
  stream.put_back(block);
  std::string text;
  while (stream.next(block, 7)) text += block;
  EXPECT_EQ(text, "one\ntwo\nthree\n");
}

TEST_F(TextStreamTest, AnEmptyFileHasNoBlocks) {
  EXPECT_EQ(blocks(write("a", "")), Strings{});
  EXPECT_EQ(blocks(write_gz("b.gz", "")), Strings{});
}

}  // namespace
}  // namespace lase
