// Fuzzes `import hgb`. The input is a line of flags and the files node.dat, link.dat, label.dat and
// label.dat.test, separated by \x1e; a file without content is missing.
//
// Readers may only throw lase::Error; see import.h for what must hold for a graph that was built.
#include "lase/base/parallel.h"
#include "lase/ingest/format.h"

#include "harness.h"
#include "import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const MemoryFolder folder("hgb");
  const lase::ThreadLimit one(1);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const Arguments arguments = parse_arguments(take_until(rest, '\n'));
  for (const char* name : {"node.dat", "link.dat", "label.dat", "label.dat.test"}) {
    folder.set(name, take_until(rest, kNextFile));
  }
  try {
    import(lase::format_named("hgb"), arguments, {{ "folder", folder.path() }});
  } catch (const lase::Error&) {  // the input was rejected
  }
  return 0;
}
