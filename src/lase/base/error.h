#pragma once

#include <functional>
#include <iosfwd>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lase {

// An option name within a message: learning_rate. The CLI prints it as the flag --learning-rate.
struct OptionName {
  std::string_view name;
};
std::ostream& operator<<(std::ostream& out, const OptionName& option);

// Invalid input. The message is one sentence for the user: the location (file, line), the value
// found, and what was expected.
class Error : public std::runtime_error {
 public:
  // `message` as returned by join(), with option names marked.
  explicit Error(const std::string& message);

  // The message with option names marked.
  const std::string& marked() const { return message_; }
  // The message with every option name replaced by spell(name).
  std::string spelled(const std::function<std::string(std::string_view)>& spell) const;

 private:
  std::string message_;
};

// Options that are wrong by themselves, whatever the data: a value that is malformed or out of
// range, or options that exclude each other.
class OptionError : public Error {
 public:
  using Error::Error;
};

// A file that cannot be opened, read or written, with the reason of the operating system.
class FileError : public Error {
 public:
  // `code` is the value of errno; `what` is, e.g., "cannot be opened".
  FileError(const std::string& path, std::string_view what, int code);

  int code() const { return code_; }

 private:
  int code_;
};

// Thrown by a computation that was asked to stop, for instance through Context::stop.
class Stopped : public Error {
 public:
  explicit Stopped(const std::string& message = "stopped; nothing was written") : Error(message) {}
};

// Streams the parts into one string.
template <class... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Error(join(parts...));
}

template <class... Parts>
void require(bool holds, const Parts&... parts) {
  if (!holds) fail(parts...);
}

template <class... Parts>
void require_option(bool holds, const Parts&... parts) {
  if (!holds) throw OptionError(join(parts...));
}

// Throws FileError with the current errno.
void require_file(bool holds, const std::string& path, std::string_view what);

// Quotes a value for a message: escapes control characters and invalid UTF-8, and shortens long
// values.
std::string quote(std::string_view text);

}  // namespace lase
