#include "lase/train/checkpoint.h"

#include <ATen/ATen.h>
#include <cstring>

#include "lase/base/error.h"
#include "lase/base/json.h"
#include "lase/base/safetensors.h"

namespace lase {
namespace {

using at::Tensor;
using nlohmann::json;

constexpr std::string_view kFormat = "lase.checkpoint";

// The lists of tensors by name.
template <class Visit, class Any>
void for_each_list(Any& checkpoint, const Visit& visit) {
  visit("weight", checkpoint.weights);
  visit("average", checkpoint.average);
  visit("best", checkpoint.best);
  visit("first", checkpoint.first);
  visit("second", checkpoint.second);
  visit("renewed", checkpoint.renewed);
}

}  // namespace

void save_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  SafetensorsWriter writer(path);
  std::vector<std::pair<SafetensorsWriter::Id, Tensor>> all;
  for_each_list(checkpoint, [&](const std::string& name, const std::vector<Tensor>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor values = tensors[i].detach().contiguous();
      all.emplace_back(writer.declare<float>(join(name, ".", i), values.sizes().vec()), values);
    }
  });
  const json about = {{"epoch", checkpoint.epoch},
                      {"steps", checkpoint.steps},
                      {"progress", checkpoint.progress},
                      {"options", checkpoint.options}};
  writer.begin({{"format", std::string(kFormat)}, {"checkpoint", about.dump()}});
  for (const auto& [id, values] : all) {
    writer.write<float>(id, 0, {values.data_ptr<float>(), static_cast<size_t>(values.numel())});
  }
  writer.commit();
}

Checkpoint load_checkpoint(const std::string& path, const std::vector<Tensor>& like) try {
  const auto file = SafetensorsFile::open(path);
  const auto& metadata = file.metadata();
  require(metadata.contains("format") && metadata.at("format") == kFormat &&
              metadata.contains("checkpoint"),
          path, ": is not a checkpoint of lase");
  const json about = json::parse(metadata.at("checkpoint"));
  Checkpoint checkpoint;
  checkpoint.epoch = natural_at(about, "epoch");
  checkpoint.steps = natural_at(about, "steps");
  require(checkpoint.epoch >= 0 && checkpoint.steps >= 0, path,
          ": the description of the checkpoint is damaged");
  checkpoint.progress = about.at("progress");
  checkpoint.options = about.at("options");
  for_each_list(checkpoint, [&](const std::string& name, std::vector<Tensor>& tensors) {
    if (name == "renewed" && !file.has("renewed.0")) return;
    for (size_t i = 0; i < like.size(); ++i) {
      const auto values = file.get<float>(join(name, ".", i), like[i].sizes());
      Tensor tensor = at::empty(like[i].sizes(), at::kFloat);
      std::memcpy(tensor.data_ptr<float>(), values.data(), values.span().size_bytes());
      tensors.push_back(tensor);
    }
  });
  return checkpoint;
} catch (const json::exception&) {
  fail(path, ": the description of the checkpoint is damaged");
}

}  // namespace lase
