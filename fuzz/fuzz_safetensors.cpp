// The safetensors header and the graph file on top of it. The first byte of the input says how to
// read the rest: 'f' is the file as it is; anything else is "header \0 arrays", to which the length
// of the header and padding are added, so that mutations of the header reach what lies behind it.
// Only lase::Error may come out, and a graph that passes check_graph can be walked.
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

// Asks for every array as it claims to be, then reads it.
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
  // On the heap, to the byte, at an address that suits every element type.
  const std::vector<char> bytes(content.begin(), content.end());
  try {
    read_arrays(lase::SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "memory"));
    file.set(content);
    const auto graph = lase::open_graph(file.path());
    lase::check_graph(graph, file.path());
    walk_graph(graph);
  } catch (const lase::Error&) {  // the input was refused
  }
  return 0;
}
