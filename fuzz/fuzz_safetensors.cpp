// Fuzzes the safetensors reader and the graph file reader on top of it. The first byte selects the
// form of the input: after 'f', the rest is a whole file; otherwise it is "header \0 arrays", and
// the header's length and padding are added, so that mutated headers still parse. Readers may only
// throw lase::Error, and a graph that passes check_graph must be safe to traverse.
#include <cstring>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/base/safetensors.h"

#include "harness.h"

namespace {

std::string file_of(std::string_view input) {
  if (input.empty()) return "";
  const bool whole = input[0] == 'f';
  input.remove_prefix(1);
  if (whole) return std::string(input);
  std::string header(take_until(input, '\0'));
  header.append((8 - header.size() % 8) % 8, ' ');
  uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file.append(header).append(input);
}

// Requests every array with its declared type and shape, and reads all elements.
void read_arrays(const lase::SafetensorsFile& file) {
  [[maybe_unused]] static volatile int64_t sink = 0;
  for (const auto& [name, tensor] : file.tensors()) {
    file.checked(name, tensor.type, tensor.shape);
    for (int64_t i = 0; i < tensor.count(); ++i) {
      sink = static_cast<int64_t>(lase::element(tensor.bytes.data(), tensor.type, i) > 0);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static MemoryFile file("graph");
  const lase::ThreadLimit one(1);
  const std::string content = file_of({reinterpret_cast<const char*>(data), size});
  // An exact-size heap copy, so that AddressSanitizer detects overruns; aligned for every type.
  const std::vector<char> bytes(content.begin(), content.end());
  try {
    read_arrays(lase::SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "memory"));
    file.set(content);
    const auto graph = lase::open_graph(file.path());
    lase::check_graph(graph, file.path());
    walk_graph(graph);
  } catch (const lase::Error&) {  // the input was rejected
  }
  return 0;
}
