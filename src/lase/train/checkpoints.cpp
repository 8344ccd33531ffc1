#include "lase/train/checkpoints.h"

#include <filesystem>
#include <utility>

#include "lase/base/error.h"
#include "lase/base/process_group.h"

namespace lase {
namespace {

// "epochs 2000 → 400"
std::string first_difference(const nlohmann::json& saved, const nlohmann::json& now) {
  for (const auto& [name, value] : now.items()) {
    if (!saved.contains(name)) return join(name, " ", value.dump(), " is a new option");
    if (saved.at(name) != value) return join(name, " ", saved.at(name).dump(), " → ", value.dump());
  }
  return "an option was removed";
}

}  // namespace

Checkpoints::Checkpoints(Options options) : options_(std::move(options)) {
  require(options_.every >= 1, OptionName{"checkpoint_every"}, " ", options_.every,
          ": expected at least 1");
}

bool Checkpoints::due(int64_t epochs, int64_t all) const {
  return is_first_process() && !options_.path.empty() && epochs < all &&
         epochs % options_.every == 0;
}

void Checkpoints::save(const Checkpoint& checkpoint) try {
  save_checkpoint(checkpoint, options_.path);
} catch (const Error& error) {
  error_ = error.what();
}

std::optional<Checkpoint> Checkpoints::load(const Parameters& parameters,
                                            const nlohmann::json& options) const {
  const std::string& path = options_.path;
  if (!options_.resume || path.empty() || !std::filesystem::exists(path)) return std::nullopt;
  Checkpoint checkpoint = load_checkpoint(path, parameters);
  require(checkpoint.options.value("graph", "") == options.value("graph", ""), path,
          ": was written while training on another graph; remove it, or train on that graph");
  if (!options.contains("epochs")) checkpoint.options.erase("epochs");
  require(checkpoint.options == options, path, ": was written with different options (",
          first_difference(checkpoint.options, options), "); remove it, or use the same options");
  return checkpoint;
}

}  // namespace lase
