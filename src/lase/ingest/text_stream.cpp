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

// Reads a plain file, or decompresses a gzip file of one or more members.
class TextStream::Source {
 public:
  explicit Source(const std::string& path) : path_(path) {
    struct stat status {};
    const bool exists = ::stat(path.c_str(), &status) == 0;
    require_file(exists, path, "cannot be opened");
    require(!S_ISDIR(status.st_mode), path, ": is a folder, expected a file");
    // Reading a device may never end, and opening it may wait or have effects.
    const bool device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
    require(!device || is_own_terminal(status), path, ": is a device, expected a file or a pipe");
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    require_file(descriptor_ >= 0, path, "cannot be opened");
    detect_gzip();
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() {
    if (gzip_) ::inflateEnd(&stream_);
    ::close(descriptor_);
  }

  // Reads up to `size` bytes; returns how many, fewer only at the end. Waits for a pipe.
  size_t read(char* out, size_t size) {
    if (!gzip_) return read_plain(out, size);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0 && refill() == 0) {
        require(between_members_, path_, ": the gzip data ends too early; the file is truncated");
        ended_ = true;
      } else if (between_members_) {
        next_member();
      } else {
        decompress();
      }
    }
    return size - stream_.avail_out;
  }

 private:
  static constexpr size_t kReadAhead = 1 << 18;

  // Whether it is the terminal that is standard input, where Ctrl-D ends the text.
  static bool is_own_terminal(const struct stat& status) {
    struct stat input {};
    return ::isatty(STDIN_FILENO) == 1 && ::fstat(STDIN_FILENO, &input) == 0 &&
           input.st_rdev == status.st_rdev;
  }

  void detect_gzip() {
    // A pipe may deliver the two magic bytes one by one.
    refill();
    if (stream_.avail_in == 1) stream_.avail_in += static_cast<uInt>(read_input(1));
    gzip_ = stream_.avail_in >= 2 && input_[0] == '\x1f' && input_[1] == '\x8b';
    if (gzip_) {
      const int result = ::inflateInit2(&stream_, 16 + MAX_WBITS);
      require(result == Z_OK, path_, ": cannot be decompressed: out of memory");
    }
  }

  // Reads the next input into the buffer; returns its size.
  size_t refill() {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(read_input(0));
    return stream_.avail_in;
  }

  // Reads into the buffer from offset `from` on; returns how many bytes, 0 only at the end.
  size_t read_input(size_t from) {
    if (input_ended_) return 0;  // a terminal would continue after its end
    ssize_t got = 0;
    do {
      got = ::read(descriptor_, input_.data() + from, input_.size() - from);
    } while (got < 0 && errno == EINTR);
    require_file(got >= 0, path_, "cannot be read");
    input_ended_ = got == 0;
    return static_cast<size_t>(got);
  }

  size_t read_plain(char* out, size_t size) {
    size_t done = 0;
    while (done < size && (stream_.avail_in > 0 || refill() > 0)) {
      const size_t part = std::min<size_t>(size - done, stream_.avail_in);
      std::memcpy(out + done, stream_.next_in, part);
      stream_.next_in += part;
      stream_.avail_in -= static_cast<uInt>(part);
      done += part;
    }
    return done;
  }

  void decompress() {
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    between_members_ = result == Z_STREAM_END;
    require(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR, path_,
            ": the gzip data is damaged: ", stream_.msg != nullptr ? stream_.msg : "unknown error");
  }

  // Another member may follow, or zeros as padding.
  void next_member() {
    if (*stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
      padded_ = true;
      return;
    }
    require(*stream_.next_in == 0x1F && !padded_, path_,
            ": the gzip data is followed by other data; the file is damaged");
    ::inflateReset(&stream_);
    between_members_ = false;
  }

  std::string path_;
  int descriptor_ = -1;
  bool gzip_ = false;
  z_stream stream_ = {};  // its input, also for plain files
  std::string input_ = std::string(kReadAhead, '\0');
  bool input_ended_ = false;
  bool between_members_ = false;
  bool padded_ = false;
  bool ended_ = false;
};

TextStream::TextStream(std::string path)
    : path_(std::move(path)),
      source_(std::make_unique<Source>(path_ == "-" ? "/dev/stdin" : path_)) {}
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
    at_end_ = ended;
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

void TextStream::put_back(std::string_view block) { rest_.insert(0, block); }

}  // namespace lase
