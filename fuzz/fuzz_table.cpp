// Fuzzes the text reader and all formats built on it. The input is a command line followed by the
// files that it names:
//
//   links --separate-directions --nodes 2 --label city
//   source,target,weight      file 1: the links
//   …
//   \x1e                      file 2: --nodes, --relations
//   \x1e                      file 3: --features (.npy)
//
// If the first word is not a format, file 1 is read as a table. Readers may only throw lase::Error;
// a graph that was built must open again, and the same files must import with its schema.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/graph/build.h"
#include "lase/graph/schema.h"
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

// Sets the options that are among the arguments; invalid values are ignored.
void fill(const lase::BoundOptions& options, const Arguments& arguments, const Files& files) {
  for (const auto& option : options) {
    const std::string& name = option.info.name;
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const auto found = arguments.find(flag);
    if (name == "file") option.set(files.links.path());
    if (found == arguments.end()) continue;
    if (name == "nodes" || name == "relations") {
      option.set(files.nodes.path());
    } else if (name == "features") {
      option.set(files.features.path());
    } else if (option.info.kind == lase::OptionKind::kBool) {
      option.set(true);
    } else if (auto value = lase::option_from_text(option.info, found->second)) {
      // Large values are legitimate, but too slow here.
      constexpr int64_t kMost = 200;
      if (value->is_number_integer() && *value > kMost) value = kMost;
      try {
        option.set(*value);
      } catch (const lase::Error&) {  // ignored, as if it had not been given
      }
    }
  }
}

void read_table(const Arguments& arguments, const Files& files) {
  const std::string path = files.links.path();
  lase::TableOptions options;
  fill(lase::table_option_table().bind(options), arguments, files);
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

void import(const lase::Format& format, const Arguments& arguments, const Files& files) {
  static const std::string kPath = "/dev/shm/lase-fuzz-" + std::to_string(::getpid()) + ".graph";
  const auto import = format.make();
  fill(import->options(), arguments, files);
  const auto built = lase::build_graph(import->read(nullptr));
  must_hold("a built graph", [&] {
    lase::save_graph(built.graph, kPath);
    const auto opened = lase::open_graph(kPath);
    lase::check_graph(opened, kPath);
    walk_graph(opened);
    const lase::Schema schema = lase::schema_of(opened);
    lase::require_schema(lase::build_graph(import->read(&schema)).graph, opened);
  });
  ::unlink(kPath.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Files files;
  const lase::ThreadLimit one(1);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  auto words = take_until(rest, '\n');
  const auto kind = take_until(words, ' ');
  const Arguments arguments = parse_arguments(words);
  files.links.set(take_until(rest, kNextFile));
  files.nodes.set(take_until(rest, kNextFile));
  files.features.set(rest);
  try {
    const auto& formats = lase::formats();
    const auto format = std::find_if(formats.begin(), formats.end(),
                                     [&](const auto& each) { return each.name == kind; });
    if (format == formats.end()) {
      read_table(arguments, files);
    } else if (kind != "authors" && kind != "ogb") {  // these read whole folders
      import(*format, arguments, files);
    }
  } catch (const lase::Error&) {  // the input was rejected
  }
  return 0;
}
