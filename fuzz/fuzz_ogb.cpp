// Fuzzes `import ogb`. The input is a line of flags and the files of a data set, separated by \x1e;
// a file without content is missing:
//
//   --task regression --layout dictionary
//   3                         file 1: num-node-list, then edge, edge-feat, node-feat, node-label,
//   \x1e                      and train, valid, test of the split
//
// Readers may only throw lase::Error; see import.h for what must hold for a graph that was built.
#include <algorithm>
#include <cctype>

#include "lase/base/parallel.h"
#include "lase/ingest/format.h"

#include "harness.h"
#include "import.h"

namespace {

// Many nodes without links are legitimate, but too slow here.
bool has_few_nodes(std::string_view list) {
  const auto plain = [](unsigned char c) { return std::isdigit(c) != 0 || std::isspace(c) != 0; };
  return list.size() <= 4 && std::all_of(list.begin(), list.end(), plain);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const MemoryFolder folder("ogb");
  const lase::ThreadLimit one(1);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const Arguments arguments = parse_arguments(take_until(rest, '\n'));
  const auto list = take_until(rest, kNextFile);
  if (!has_few_nodes(list)) return 0;
  folder.set("raw/num-node-list.csv", list);
  for (const char* name :
       {"raw/edge.csv", "raw/edge-feat.csv", "raw/node-feat.csv", "raw/node-label.csv",
        "split/time/train.csv", "split/time/valid.csv", "split/time/test.csv"}) {
    folder.set(name, take_until(rest, kNextFile));
  }
  try {
    import(lase::format_named("ogb"), arguments, {{ "folder", folder.path() }});
  } catch (const lase::Error&) {  // the input was rejected
  }
  return 0;
}
