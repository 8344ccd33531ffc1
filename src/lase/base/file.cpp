#include "lase/base/file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "lase/base/checksum.h"
#include "lase/base/error.h"
#include "lase/base/process_group.h"
#include "lase/base/text.h"

namespace lase {
namespace {

// The mapped files, for changed_mapped_file(). Files beyond the last slot are not tracked.
std::array<std::atomic<const MappedFile*>, 64> mapped_files;

// The path of the first file that had changed by the time it was unmapped.
std::array<char, 4096> changed_path;
std::atomic<bool> some_changed = false;

void replace_slot(const MappedFile* from, const MappedFile* to) noexcept {
  for (auto& slot : mapped_files) {
    const MappedFile* expected = from;
    if (slot.compare_exchange_strong(expected, to)) return;
  }
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  return std::shared_ptr<const MappedFile>(new MappedFile(path));
}

MappedFile::MappedFile(const std::string& path)
    : path_(path),
      // Without O_NONBLOCK, opening a named pipe would wait for a writer.
      descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  require_file(descriptor_ >= 0, path, "cannot be opened");
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail(path, ": is not a regular file");
  }
  size_ = static_cast<size_t>(status.st_size);
  seconds_ = status.st_mtim.tv_sec;
  nanoseconds_ = status.st_mtim.tv_nsec;
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (data == MAP_FAILED) {
    const int code = errno;
    ::close(descriptor_);
    throw FileError(path, "cannot be mapped", code);
  }
  data_ = static_cast<const std::byte*>(data);
  replace_slot(nullptr, this);
}

MappedFile::~MappedFile() {
  replace_slot(this, nullptr);
  if (changed() && path_.size() < changed_path.size() && !some_changed.exchange(true)) {
    std::copy_n(path_.c_str(), path_.size() + 1, changed_path.begin());
  }
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  ::close(descriptor_);
}

bool MappedFile::changed() const noexcept {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 &&
         (static_cast<size_t>(status.st_size) != size_ || status.st_mtim.tv_sec != seconds_ ||
          status.st_mtim.tv_nsec != nanoseconds_);
}

const char* changed_mapped_file() noexcept {
  for (const auto& slot : mapped_files) {
    const MappedFile* file = slot.load();
    if (file != nullptr && file->changed()) return file->path().c_str();
  }
  return some_changed ? changed_path.data() : nullptr;
}

namespace {

// A temporary file is locked while its writer lives. Returns whether the lock was acquired, or the
// file system has no locks.
bool lock(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

// Deletes a temporary file if its writer was killed.
void remove_abandoned(const std::string& temporary) {
  const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(temporary.c_str());
  ::close(descriptor);
}

// Calls create(name) with names of temporary files for `target` until it succeeds or fails with
// another error than EEXIST. Returns the last name. The names are always the same, so that the next
// writer of the file finds what a killed one has left.
template <class Create>
std::string create_temporary(const std::string& target, const Create& create) {
  const auto slash = target.rfind('/');
  const size_t folder = slash == target.npos ? 0 : slash + 1;
  const std::string_view name = std::string_view(target).substr(folder);
  const std::string start = join(std::string_view(target).substr(0, folder), ".lase-",
                                 checksum_text(checksum(std::as_bytes(std::span(name)))), "-");
  for (int count = 0;; ++count) {
    std::string temporary = join(start, count, ".part");
    remove_abandoned(temporary);
    if (create(temporary) || errno != EEXIST) return temporary;
  }
}

// Creates and locks a file that does not exist. errno is EEXIST if it does, or if another writer
// considered it abandoned before it was locked.
int create_locked(const std::string& name) {
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return -1;
  struct stat status {};
  if (lock(descriptor) && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0) {
    return descriptor;
  }
  ::close(descriptor);
  errno = EEXIST;
  return -1;
}

// What a chain of symbolic links points to, whether or not it exists.
std::string follow_links(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path target = path;
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(target, error); ++links) {
    target = target.parent_path() / fs::read_symlink(target, error);
    require(!error, path, ": cannot be written: ", error.message());
  }
  return target.string();
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), kept_(is_first_process()) {
  if (!kept_) {
    descriptor_ = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    require_file(descriptor_ >= 0, "/dev/null", "cannot be written");
    return;
  }
  struct stat status {};
  if (::stat(path_.c_str(), &status) == 0) {
    require(S_ISREG(status.st_mode), path_,
            ": cannot be written: it exists and is not a regular file");
  } else {
    require_file(errno == ENOENT, path_, "cannot be written");
  }
  // A symbolic link stays; the file that it points to is replaced.
  target_ = follow_links(path_);
  const auto slash = target_.rfind('/');
  const std::string folder = slash == target_.npos ? "./" : target_.substr(0, slash + 1);
  // An unnamed file disappears however the program ends, but not every file system supports
  // O_TMPFILE.
  descriptor_ = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
  named_ = descriptor_ < 0;
  if (named_) {
    temporary_ = create_temporary(target_, [&](const std::string& name) {
      descriptor_ = create_locked(name);
      return descriptor_ >= 0;
    });
  } else {
    lock(descriptor_);
  }
  require_file(descriptor_ >= 0, path_, "cannot be written");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (named_) ::unlink(temporary_.c_str());
}

std::shared_ptr<const std::byte> AtomicFile::map(int64_t size) const {
  const auto length = static_cast<size_t>(size);
  void* data = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor_, 0);
  require_file(data != MAP_FAILED, path_, "cannot be mapped");
  return {static_cast<const std::byte*>(data),
          [length](const std::byte* bytes) { ::munmap(const_cast<std::byte*>(bytes), length); }};
}

void AtomicFile::reserve(int64_t size) {
  if (size <= 0 || !kept_) return;
  const int error = ::posix_fallocate(descriptor_, 0, size);
  // Some file systems cannot reserve space; a full disk is then reported while writing.
  require(error == 0 || error == EOPNOTSUPP || error == EINVAL, path_,
          ": cannot be written: ", std::strerror(error), " (", size, " bytes needed)");
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write_at(end_, bytes);
  end_ += static_cast<int64_t>(bytes.size());
}

void AtomicFile::write_at(int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    require_file(written > 0, path_, "cannot be written");
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += written;
  }
}

void AtomicFile::commit() {
  if (!kept_) return;
  bool done = ::fsync(descriptor_) == 0;
  if (done && !named_) {
    const std::string self = join("/proc/self/fd/", descriptor_);
    temporary_ = create_temporary(target_, [&](const std::string& name) {
      named_ = ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
      return named_;
    });
    done = named_;
  }
  done = done && ::rename(temporary_.c_str(), target_.c_str()) == 0;
  require_file(done, path_, "cannot be written");
  named_ = false;
  ::close(std::exchange(descriptor_, -1));
}

TextWriter& TextWriter::operator<<(std::string_view text) {
  buffer_ += text;
  return flush_full();
}

namespace {

template <class T>
std::string_view to_text(T value, std::span<char> digits) {
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), static_cast<size_t>(end - digits.data())};
}

}  // namespace

TextWriter& TextWriter::operator<<(int64_t value) {
  char digits[32];
  return *this << to_text(value, digits);
}

TextWriter& TextWriter::operator<<(float value) {
  char digits[64];
  return *this << to_text(value, digits);
}

TextWriter& TextWriter::operator<<(double value) {
  char digits[64];
  return *this << to_text(value, digits);
}

TextWriter& TextWriter::field(std::string_view text) {
  append_csv_field(buffer_, text);
  return flush_full();
}

TextWriter& TextWriter::flush_full() {
  constexpr size_t kBuffered = 1 << 20;
  if (buffer_.size() >= kBuffered) flush();
  return *this;
}

void TextWriter::flush() {
  file_.write(std::as_bytes(std::span(buffer_)));
  buffer_.clear();
}

void TextWriter::commit() {
  flush();
  file_.commit();
}

bool make_folder(const std::string& path) {
  std::error_code error;
  const bool made = std::filesystem::create_directories(path, error);
  require(std::filesystem::is_directory(path, error), path,
          ": cannot be created: ", error ? error.message() : "it exists and is not a folder");
  return made;
}

void write_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::string read_file(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace lase
