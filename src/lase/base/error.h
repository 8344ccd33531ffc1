#pragma once

#include <functional>
#include <iosfwd>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lase {

// The name of an option within a message: learning_rate. The command line spells it as its flag.
struct OptionName {
  std::string_view name;
};
std::ostream& operator<<(std::ostream& out, const OptionName& option);

// Input that cannot be used. The message is one sentence for the user: what and where it is, the
// value found, and what was expected.
class Error : public std::runtime_error {
 public:
  // `message` as join() gives it, option names marked.
  explicit Error(const std::string& message);

  // The sentence with every option name as `spell` writes it.
  std::string spelled(const std::function<std::string(std::string_view)>& spell) const;

 private:
  std::string message_;
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
