#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace lase {

// Input that cannot be used. The message is one sentence for the user: what and where it is, the
// value found, and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The parts, streamed one after the other.
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

// A value quoted for a message: control bytes and anything that is not UTF-8 are escaped, long ones
// are shortened.
std::string quote(std::string_view text);

}  // namespace lase
