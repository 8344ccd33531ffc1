#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace lase {

// Reads text, plain or gzip (detected from its first bytes), in blocks of whole lines. Skips a
// byte-order mark. The input is a file, a pipe, a terminal or "-", standard input, and is read
// once, from the start to the end.
class TextStream {
 public:
  explicit TextStream(std::string path);
  ~TextStream();
  TextStream(TextStream&&) noexcept;

  // Replaces `block` with the next lines, about `size` bytes; returns false at the end. Every line
  // except the last of the file ends with '\n'.
  bool next(std::string& block, size_t size = kBlock);

  // Whether the last next() reached the end of the input.
  bool at_end() const { return at_end_; }

  // Lines returned by the last next() come again before the others.
  void put_back(std::string_view block);

  static constexpr size_t kBlock = 4 << 20;

 private:
  class Source;
  size_t fill(std::string& block, size_t from, size_t size);
  std::string path_;
  std::unique_ptr<Source> source_;
  std::string rest_;  // lines put back, then the incomplete last line of the previous block
  bool first_ = true;
  bool at_end_ = false;
};

}  // namespace lase
