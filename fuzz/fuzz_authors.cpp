// Fuzzes `import authors`. The input is the six files of a data set, separated by \x1e; a file
// without content is missing. Readers may only throw lase::Error; see import.h for what must hold
// for a graph that was built.
#include "lase/base/parallel.h"
#include "lase/ingest/format.h"

#include "harness.h"
#include "import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const MemoryFolder folder("authors");
  const lase::ThreadLimit one(1);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"d-G.json", "d-label-map.json", "d-node-id-map.json",
                           "d-link-id-map.json", "d-node-feats.npy", "d-link-feats.npy"}) {
    folder.set(name, take_until(rest, kNextFile));
  }
  try {
    import(lase::format_named("authors"), {}, {{ "prefix", folder.path() + "/d" }});
  } catch (const lase::Error&) {  // the input was rejected
  }
  return 0;
}
