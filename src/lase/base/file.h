#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lase {

// A file mapped for reading. It must not be truncated or overwritten while it is mapped: its pages
// would change, or reading them would raise SIGBUS. Replacing it with a rename is safe.
class MappedFile {
 public:
  // Throws Error if the file cannot be opened or is not a regular file.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // Whether the size or modification time has changed since the file was mapped.
  bool changed() const noexcept;

 private:
  explicit MappedFile(const std::string& path);
  std::string path_;
  int descriptor_ = -1;
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  int64_t seconds_ = 0;  // modification time
  int64_t nanoseconds_ = 0;
};

// The path of a file that changed while it was mapped, or null. Async-signal-safe.
const char* changed_mapped_file() noexcept;

// A file that is written completely or not at all: the data goes to an unnamed or temporary file in
// the same folder, which commit() flushes and renames. Without commit() nothing is left behind and
// an existing file is unchanged. If several processes compute the same result (ProcessScope), only
// process 0 keeps its file.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Allocates `size` bytes up front, so that a full disk is reported before the work is done.
  void reserve(int64_t size);
  void write(std::span<const std::byte> bytes);                     // appends
  void write_at(int64_t offset, std::span<const std::byte> bytes);  // thread-safe
  // The first `size` bytes as they are now, for reading.
  std::shared_ptr<const std::byte> map(int64_t size) const;
  void commit();

  const std::string& path() const { return path_; }
  // False in the other processes: what is written is discarded, and cannot be mapped.
  bool kept() const { return kept_; }

 private:
  std::string path_;
  std::string target_;  // path_, or what it points to if it is a symbolic link
  bool kept_;
  std::string temporary_;
  int descriptor_ = -1;
  bool named_ = false;  // whether temporary_ exists in the folder
  int64_t end_ = 0;
};

// Buffered text output to an AtomicFile.
class TextWriter {
 public:
  explicit TextWriter(std::string path) : file_(std::move(path)) {}
  TextWriter& operator<<(std::string_view text);
  TextWriter& operator<<(char c) { return *this << std::string_view(&c, 1); }
  TextWriter& operator<<(int64_t value);
  TextWriter& operator<<(float value);   // the shortest text that parses to the same value
  TextWriter& operator<<(double value);  // likewise
  // A CSV field, quoted if necessary (append_csv_field).
  TextWriter& field(std::string_view text);
  void commit();

 private:
  void flush();
  TextWriter& flush_full();
  AtomicFile file_;
  std::string buffer_;
};

// Creates a folder and its parents; returns whether it is new. Throws Error if that fails.
bool make_folder(const std::string& path);

void write_file(const std::string& path, std::string_view text);
std::string read_file(const std::string& path);

}  // namespace lase
