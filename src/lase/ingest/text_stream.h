#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace lase {

// Reads a text file, plain or gzip (detected from its first bytes), in blocks of whole lines. Skips
// a byte-order mark.
class TextStream {
 public:
  explicit TextStream(std::string path);
  ~TextStream();
  TextStream(TextStream&&) noexcept;

  // Replaces `block` with the next lines, about `size` bytes; returns false at the end. Every line
  // except the last of the file ends with '\n'.
  bool next(std::string& block, size_t size = kBlock);

  static constexpr size_t kBlock = 4 << 20;

 private:
  class Source;
  size_t fill(std::string& block, size_t from, size_t size);
  std::string path_;
  std::unique_ptr<Source> source_;
  std::string rest_;  // incomplete last line of the previous block
  bool first_ = true;
};

}  // namespace lase
