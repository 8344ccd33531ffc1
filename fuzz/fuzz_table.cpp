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
#include <vector>

#include "lase/base/parallel.h"
#include "lase/ingest/format.h"
#include "lase/ingest/table.h"

#include "harness.h"
#include "import.h"

namespace {

struct Files {
  MemoryFile links{"links"};
  MemoryFile nodes{"nodes"};
  MemoryFile features{"features"};

  Paths paths() const {
    Paths all = {{"file", links.path()}, {"nodes", nodes.path()}, {"features", features.path()}};
    all["relations"] = nodes.path();
    return all;
  }
};

void read_table(const Arguments& arguments, const std::string& path) {
  lase::TableOptions options;
  fill(lase::table_option_table().bind(options), arguments, {});
  lase::Table table(path, options);
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
      read_table(arguments, files.links.path());
    } else if (kind != "authors" && kind != "ogb") {  // these have their own targets
      import(*format, arguments, files.paths());
    }
  } catch (const lase::Error&) {  // the input was rejected
  }
  return 0;
}
