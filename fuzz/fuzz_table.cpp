// The text reader and every format that stands on it. The input is a command line and the files
// it names, one after the other:
//
//   links --directional --nodes 2 --label city
//   source,target,weight      file 1: the links
//   …
//   \x1e                      file 2: --nodes, --relations
//   \x1e                      file 3: --features (.npy)
//
// A first word that names no format reads file 1 as a table. Only lase::Error may come out, and a
// graph that could be built must be one that opens again and that the same files are like.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/graph/build.h"
#include "lase/graph/like.h"
#include "lase/ingest/format.h"
#include "lase/ingest/table.h"

#include "harness.h"

namespace {

constexpr char kNextFile = '\x1e';

struct Files {
  MemoryFile links{"links"};
  MemoryFile nodes{"nodes"};
  MemoryFile features{"features"};
};

using Arguments = std::map<std::string, std::string, std::less<>>;

Arguments parse_arguments(std::string_view words) {
  Arguments arguments;
  while (!words.empty()) {
    const std::string flag(take_until(words, ' '));
    const bool has_value = flag.starts_with("--") && !words.empty() && !words.starts_with("--");
    arguments[flag] = has_value ? std::string(take_until(words, ' ')) : "";
  }
  return arguments;
}

class FuzzFlags : public lase::Flags {
 public:
  FuzzFlags(const Arguments& arguments, const Files& files)
      : arguments_(arguments), files_(files) {}

  void text(const std::string& name, std::string& value, const std::string&) override {
    const auto* given = find(name);
    if (given == nullptr) return;
    if (name == "--nodes" || name == "--relations") {
      value = files_.nodes.path();
    } else if (name == "--features") {
      value = files_.features.path();
    } else {
      value = *given;
    }
  }
  void required(const std::string& name, std::string& value, const std::string& help) override {
    if (name == "file") value = files_.links.path();
    text(name, value, help);
  }
  void texts(const std::string& name, std::vector<std::string>& value,
             const std::string&) override {
    const auto* given = find(name);
    if (given == nullptr) return;
    for (std::string_view rest = *given; !rest.empty();) value.emplace_back(take_until(rest, ','));
  }
  // Kept small: what a user asks for may be large.
  void number(const std::string& name, int64_t& value, const std::string&) override {
    const auto* given = find(name);
    if (given == nullptr) return;
    std::from_chars(given->data(), given->data() + given->size(), value);
    value = std::min<int64_t>(value, 200);
  }
  void optional(const std::string& name, std::optional<float>& value, const std::string&) override {
    if (const auto* given = find(name)) value = static_cast<float>(given->size());
  }
  void flag(const std::string& name, bool& value, const std::string&) override {
    value = find(name) != nullptr;
  }
  void choice(const std::string& name, const std::vector<std::string>& choices, std::string& value,
              const std::string&) override {
    const auto* given = find(name);
    if (given != nullptr && std::count(choices.begin(), choices.end(), *given) > 0) value = *given;
  }

 private:
  const std::string* find(const std::string& name) const {
    const auto found = arguments_.find(name);
    return found == arguments_.end() ? nullptr : &found->second;
  }
  const Arguments& arguments_;
  const Files& files_;
};

void read_table(const FuzzFlags& given, const std::string& path) {
  auto flags = given;
  lase::TableOptions options;
  flags.text("--delimiter", options.delimiter, "");
  flags.text("--header", options.header, "");
  flags.optional("--missing", options.missing, "");
  const lase::Table table(path, options);
  size_t length = 0;
  const auto parse = [&](std::vector<std::string_view>& chunk, const lase::Row& row) {
    for (int64_t column = 0; column < table.column_count(); ++column) {
      chunk.push_back(row.text(column));
      lase::parse_time(row.text(column));
      length += lase::lower_case(row.text(column)).size();
    }
  };
  const auto merge = [&](const std::vector<std::string_view>& chunk) {
    for (const auto text : chunk) length += text.size();
  };
  table.read<std::vector<std::string_view>>(parse, merge);
}

void import(lase::Format& format, FuzzFlags& flags) {
  static const std::string kPath = "/dev/shm/lase-fuzz-" + std::to_string(::getpid()) + ".graph";
  format.declare(flags);
  const auto built = lase::build_graph(format.read(nullptr));
  must_hold("a built graph", [&] {
    lase::save_graph(built.graph, kPath);
    const auto opened = lase::open_graph(kPath);
    lase::check_graph(opened, kPath);
    walk_graph(opened);
    const lase::Like like = lase::like_of(opened);
    lase::require_like(lase::build_graph(format.read(&like)).graph, opened);
  });
  ::unlink(kPath.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Files files;
  lase::set_thread_count(1);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  auto words = take_until(rest, '\n');
  const auto kind = take_until(words, ' ');
  const Arguments arguments = parse_arguments(words);
  files.links.set(take_until(rest, kNextFile));
  files.nodes.set(take_until(rest, kNextFile));
  files.features.set(rest);
  FuzzFlags flags(arguments, files);
  try {
    auto formats = lase::formats();
    const auto format = std::find_if(formats.begin(), formats.end(),
                                     [&](const auto& each) { return each->name() == kind; });
    if (format == formats.end()) {
      read_table(flags, files.links.path());
    } else if (kind != "authors" && kind != "ogb") {  // these read whole folders
      import(**format, flags);
    }
  } catch (const lase::Error&) {  // the input was refused
  }
  return 0;
}
