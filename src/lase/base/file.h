#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lase {

// A file mapped for reading. It must not be truncated or written to while it is mapped: its pages
// then change, or reading them raises SIGBUS. Replacing it by a rename is safe.
class MappedFile {
 public:
  // Throws Error if the file cannot be opened or is not a regular file.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // Whether its size or modification time has changed since it was mapped.
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

// The path of a file that changed while it was mapped, or null. Safe to call in a signal handler.
const char* changed_mapped_file() noexcept;

// A file that appears whole or not at all: it is written beside its place without a name, or under
// a temporary one, then flushed and renamed by commit(). Without commit() nothing remains and an
// older file stays as it was.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  // Takes the room for `size` bytes at once, so that a full disk is found before the work is done.
  void reserve(int64_t size);
  void write(std::span<const std::byte> bytes);                     // at the end
  void write_at(int64_t offset, std::span<const std::byte> bytes);  // anywhere; thread-safe
  void commit();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  bool named_ = false;  // whether temporary_ stands in the folder
  int64_t end_ = 0;
};

// Text written through a buffer into an AtomicFile.
class TextWriter {
 public:
  explicit TextWriter(std::string path) : file_(std::move(path)) {}
  TextWriter& operator<<(std::string_view text);
  TextWriter& operator<<(char c) { return *this << std::string_view(&c, 1); }
  TextWriter& operator<<(int64_t value);
  TextWriter& operator<<(float value);   // the shortest text that reads back as the same value
  TextWriter& operator<<(double value);  // likewise
  // A csv field, in quotes where it needs them (append_csv_field).
  TextWriter& field(std::string_view text);
  void commit();

 private:
  void flush();
  TextWriter& flush_full();
  AtomicFile file_;
  std::string buffer_;
};

// The folder with all above it; whether it is new. Throws Error where it cannot be made.
bool make_folder(const std::string& path);

void write_file(const std::string& path, std::string_view text);
std::string read_file(const std::string& path);

}  // namespace lase
