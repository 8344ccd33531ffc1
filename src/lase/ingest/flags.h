#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lase {

// Where a format says which options it takes. The command line fills them in; a program that embeds
// the library may implement this or set the format's fields itself. A name without dashes is a
// positional argument.
class Flags {
 public:
  virtual ~Flags() = default;
  virtual void text(const std::string& name, std::string& value, const std::string& help) = 0;
  virtual void required(const std::string& name, std::string& value, const std::string& help) = 0;
  virtual void texts(const std::string& name, std::vector<std::string>& value,
                     const std::string& help) = 0;
  virtual void number(const std::string& name, int64_t& value, const std::string& help) = 0;
  virtual void optional(const std::string& name, std::optional<float>& value,
                        const std::string& help) = 0;
  virtual void flag(const std::string& name, bool& value, const std::string& help) = 0;
  virtual void choice(const std::string& name, const std::vector<std::string>& choices,
                      std::string& value, const std::string& help) = 0;
};

}  // namespace lase
