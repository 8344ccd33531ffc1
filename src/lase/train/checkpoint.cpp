#include "lase/train/checkpoint.h"

#include <ATen/ATen.h>
#include <cstring>

#include "lase/base/error.h"
#include "lase/base/lase_file.h"

namespace lase {
namespace {

using at::Tensor;
using nlohmann::json;

// Calls visit(prefix, tensors) for each list of tensors.
template <class Visit, class Any>
void for_each_list(Any& checkpoint, const Visit& visit) {
  visit("weight", checkpoint.weights);
  visit("average", checkpoint.average);
  visit("best", checkpoint.best);
  visit("first", checkpoint.first);
  visit("second", checkpoint.second);
  visit("snapshot", checkpoint.snapshot);
}

}  // namespace

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  SafetensorsWriter writer(path);
  std::vector<std::pair<SafetensorsWriter::Id, Tensor>> all;
  for_each_list(checkpoint, [&](const std::string& list, const NamedTensors& tensors) {
    for (const auto& [parameter, tensor] : tensors) {
      const Tensor values = tensor.detach().cpu().contiguous();
      const std::string full = join(list, ".", parameter);
      all.emplace_back(writer.declare<float>(full, values.sizes().vec()), values);
    }
  });
  const json about = {{"epoch", checkpoint.epoch},
                      {"steps", checkpoint.steps},
                      {"has_snapshot", !checkpoint.snapshot.empty()},
                      {"progress", to_json(checkpoint.progress)},
                      {"options", checkpoint.options}};
  writer.begin(file_metadata(kCheckpointFile, about));
  for (const auto& [id, values] : all) {
    writer.write<float>(id, 0, {values.data_ptr<float>(), static_cast<size_t>(values.numel())});
  }
  writer.commit();
}

Checkpoint load_checkpoint(const std::string& path, const Parameters& parameters) {
  const at::Device device = parameters.device();
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, value] : parameters.all()) shapes.emplace(name, value.sizes().vec());
  const StoredCheckpoint stored = read_checkpoint(path, shapes);
  Checkpoint checkpoint;
  checkpoint.epoch = stored.epoch;
  checkpoint.steps = stored.steps;
  checkpoint.progress = stored.progress;
  checkpoint.options = stored.options;
  for_each_list(checkpoint, [&](const std::string& list, NamedTensors& tensors) {
    for (const auto& [parameter, values] : stored.lists.at(list)) {
      Tensor tensor = at::empty(shapes.at(parameter), at::kFloat);
      std::memcpy(tensor.data_ptr<float>(), values.data(), values.span().size_bytes());
      tensors.emplace(parameter, tensor.to(device));
    }
  });
  return checkpoint;
}

}  // namespace lase
