#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace lase {

// The text of a file, plain or gzip (told apart by its first bytes), as blocks of whole lines. A
// byte-order mark is skipped.
class TextStream {
 public:
  explicit TextStream(std::string path);
  ~TextStream();
  TextStream(TextStream&&) noexcept;

  // Replaces `block` by the next lines, about `size` bytes; false at the end. Every line but the
  // last of the file ends with '\n'.
  bool next(std::string& block, size_t size = kBlock);

  static constexpr size_t kBlock = 4 << 20;

 private:
  class Source;
  size_t fill(std::string& block, size_t from, size_t size);
  std::string path_;
  std::unique_ptr<Source> source_;
  std::string rest_;  // start of a line whose end has not been read
  bool first_ = true;
};

}  // namespace lase
