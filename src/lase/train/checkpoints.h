#pragma once

#include <optional>
#include <string>

#include "lase/train/checkpoint.h"

namespace lase {

// Writes the checkpoints of a run, and loads the one to resume from.
class Checkpoints {
 public:
  struct Options {
    std::string path;   // empty: no checkpoints
    int64_t every = 1;  // epochs between checkpoints
    bool resume = false;
  };
  explicit Checkpoints(Options options);

  // Whether this process writes a checkpoint after `epochs` of `all` epochs.
  bool due(int64_t epochs, int64_t all) const;
  // A failure to write does not stop the run; error() then returns the reason.
  void save(const Checkpoint& checkpoint);
  const std::string& error() const { return error_; }

  // The checkpoint to resume from, if requested and present. Throws Error if it was written with
  // different options.
  std::optional<Checkpoint> load(const Parameters& parameters, const nlohmann::json& options) const;

 private:
  Options options_;
  std::string error_;
};

}  // namespace lase
