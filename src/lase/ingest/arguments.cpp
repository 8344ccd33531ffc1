#include "lase/ingest/arguments.h"

#include <charconv>
#include <functional>
#include <map>

#include "lase/base/error.h"
#include "lase/graph/encode_labels.h"

namespace lase {
namespace {

using Strings = std::vector<std::string>;

template <class Number>
Number number_from(const std::string& name, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size(), name, " ", quote(text),
          ": expected a number");
  return value;
}

// Takes the values of a format's options from a list of arguments.
class ArgumentFlags : public Flags {
 public:
  using Set = std::function<void(const std::string&)>;

  void text(const std::string& name, std::string& value, const std::string&) override {
    setters_[name] = [&value](const std::string& given) { value = given; };
  }
  void required(const std::string& name, std::string& value, const std::string&) override {
    text(name, value, "");
    if (!name.starts_with("--")) positional_ = name;
  }
  void texts(const std::string& name, Strings& value, const std::string&) override {
    setters_[name] = [&value](const std::string& given) {
      for (const auto part : split_text(given, ",")) value.emplace_back(part);
    };
  }
  void number(const std::string& name, int64_t& value, const std::string&) override {
    setters_[name] = [&value, name](const std::string& given) {
      value = number_from<int64_t>(name, given);
    };
  }
  void optional(const std::string& name, std::optional<float>& value, const std::string&) override {
    setters_[name] = [&value, name](const std::string& given) {
      value = number_from<float>(name, given);
    };
  }
  void flag(const std::string& name, bool& value, const std::string&) override {
    switches_[name] = [&value](const std::string&) { value = true; };
  }
  void choice(const std::string& name, const Strings& choices, std::string& value,
              const std::string&) override {
    setters_[name] = [&value, name, choices](const std::string& given) {
      require(std::find(choices.begin(), choices.end(), given) != choices.end(), name, " ",
              quote(given), ": is none of its choices");
      value = given;
    };
  }

  void apply(const Strings& arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto& argument = arguments[i];
      if (!argument.starts_with("--")) {
        setters_.at(positional_)(argument);
      } else if (switches_.contains(argument)) {
        switches_.at(argument)("");
      } else {
        require(setters_.contains(argument), "there is no option ", quote(argument));
        require(i + 1 < arguments.size(), argument, ": expected a value");
        setters_.at(argument)(arguments[++i]);
      }
    }
  }

 private:
  std::map<std::string, Set> setters_;
  std::map<std::string, Set> switches_;
  std::string positional_;
};

}  // namespace

RawGraph read_format(const std::string& format, const Strings& arguments, const Like* like) {
  for (const auto& candidate : formats()) {
    if (candidate->name() != format) continue;
    ArgumentFlags flags;
    candidate->declare(flags);
    flags.apply(arguments);
    return candidate->read(like);
  }
  fail("there is no format called ", quote(format));
}

}  // namespace lase
