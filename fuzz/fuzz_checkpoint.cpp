// Fuzzes checkpoint files, up to the step that turns arrays into tensors; see stored_file.h for the
// input. The parameters are those of the weights in the file. Reading may only throw lase::Error,
// and progress that was read must be valid when it is written again.
#include <map>
#include <string>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/train/stored_checkpoint.h"

#include "harness.h"
#include "stored_file.h"

namespace {

std::map<std::string, std::vector<int64_t>> weights_in(const std::string& path) {
  const std::string prefix = "weight.";
  std::map<std::string, std::vector<int64_t>> shapes;
  const auto file = lase::SafetensorsFile::open(path);
  for (const auto& [name, tensor] : file.tensors()) {
    if (name.starts_with(prefix)) shapes.emplace(name.substr(prefix.size()), tensor.shape);
  }
  return shapes;
}

// Reads every value.
void read_values(const lase::StoredCheckpoint& checkpoint) {
  [[maybe_unused]] static volatile float sink = 0;
  for (const auto& [list, arrays] : checkpoint.lists) {
    for (const auto& [parameter, values] : arrays) {
      for (const float value : values) sink = value;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static StoredFile file(lase::kCheckpointFile);
  const lase::ThreadLimit one(1);
  try {
    const auto path = file.set({reinterpret_cast<const char*>(data), size});
    const auto checkpoint = lase::read_checkpoint(path, weights_in(path));
    read_values(checkpoint);
    lase::to_json(checkpoint.progress).dump();
  } catch (const lase::Error&) {  // the input was rejected
  }
  return 0;
}
