#include "lase/ingest/text_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lase/base/error.h"

namespace lase {

// zlib reads plain files unchanged, so one code path serves both.
class TextStream::Source {
 public:
  explicit Source(const std::string& path) : path_(path) {
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    require(exists, path, ": cannot be opened: ", std::strerror(errno));
    require(!S_ISDIR(status.st_mode), path, ": is a folder, expected a file");
    // Tables are read twice, first to detect their format; a pipe can be read only once.
    require(S_ISREG(status.st_mode), path,
            ": is not a regular file; pipes and devices are not supported");
    file_ = ::gzopen(path.c_str(), "rb");
    require(file_ != nullptr, path, ": cannot be opened: ", std::strerror(errno));
    constexpr unsigned kReadAhead = 1 << 18;
    ::gzbuffer(file_, kReadAhead);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() { ::gzclose(file_); }

  // Reads up to `size` bytes; returns how many.
  size_t read(char* out, size_t size) {
    const int got = ::gzread(file_, out, static_cast<unsigned>(size));
    if (got < static_cast<int>(size)) {
      int error = Z_OK;
      const char* message = ::gzerror(file_, &error);
      require(error != Z_BUF_ERROR, path_, ": the gzip data ends too early; the file is truncated");
      require(error != Z_ERRNO, path_, ": cannot be read: ", std::strerror(errno));
      require(error == Z_OK || error == Z_STREAM_END, path_,
              ": the gzip data is damaged: ", message);
    }
    return static_cast<size_t>(std::max(got, 0));
  }

 private:
  std::string path_;
  gzFile file_ = nullptr;
};

TextStream::TextStream(std::string path)
    : path_(std::move(path)), source_(std::make_unique<Source>(path_)) {}
TextStream::~TextStream() = default;
TextStream::TextStream(TextStream&&) noexcept = default;

// Reads up to `size` bytes into the block at offset `from`; returns how many.
size_t TextStream::fill(std::string& block, size_t from, size_t size) {
  // Grow in steps so that a small file does not allocate a full block.
  size_t got = 0;
  for (size_t step = 1 << 16; got < size; step *= 4) {
    const size_t wanted = std::min(step, size - got);
    block.resize(from + got + wanted);
    const size_t more = source_->read(block.data() + from + got, wanted);
    got += more;
    if (more < wanted) break;
  }
  block.resize(from + got);
  require(std::memchr(block.data() + from, '\0', got) == nullptr, path_,
          ": contains a zero byte, expected text");
  return got;
}

bool TextStream::next(std::string& block, size_t size) {
  constexpr size_t kLongestLine = size_t{256} << 20;
  block.swap(rest_);
  rest_.clear();
  while (true) {
    const size_t from = block.size();
    const bool ended = fill(block, from, size) < size;
    if (first_) {
      first_ = false;
      if (block.starts_with("\xEF\xBB\xBF")) block.erase(0, 3);
    }
    if (ended) return !block.empty();
    const void* line_end = ::memrchr(block.data() + from, '\n', block.size() - from);
    if (line_end != nullptr) {
      const auto end = static_cast<size_t>(static_cast<const char*>(line_end) - block.data()) + 1;
      rest_.assign(block, end);
      block.resize(end);
      return true;
    }
    require(block.size() < kLongestLine, path_, ": has a line longer than ", kLongestLine >> 20,
            " MiB; expected lines of text");
  }
}

}  // namespace lase
