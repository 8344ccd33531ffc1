#pragma once

#include <optional>
#include <string>

#include "lase/train/checkpoint.h"

namespace lase {

// When checkpoints of a run are written, and where it goes on from.
class Checkpoints {
 public:
  struct Options {
    std::string path;   // empty: none
    int64_t every = 1;  // epochs
    bool resume = false;
  };
  explicit Checkpoints(Options options);

  // Whether one is written after so many epochs of all.
  bool due(int64_t epochs, int64_t all) const;
  // A run is worth more than its checkpoint: where one cannot be written, error() says why.
  void save(const Checkpoint& checkpoint);
  const std::string& error() const { return error_; }

  // The one to go on from, if asked for and there is one. Throws Error if it belongs to a run with
  // other options.
  std::optional<Checkpoint> load(const Parameters& parameters, const nlohmann::json& options) const;

 private:
  Options options_;
  std::string error_;
};

}  // namespace lase
