#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/base/array.h"

namespace lase {

// State of a run besides tensors.
struct Progress {
  struct Best {
    int64_t epoch = 0;  // 0: none yet
    bool validated = false;
    double score = -std::numeric_limits<double>::infinity();
    double loss = std::numeric_limits<double>::infinity();
  };
  struct Rate {
    double factor = 1;
    int64_t since_change = 0;  // validations
  };
  nlohmann::json curve = nlohmann::json::array();  // {"epoch", "loss", "val" if validated}
  Best best = {};
  Rate learning_rate = {};
  int64_t batches_left = 0;  // until the next refresh, with a snapshot
  int64_t eval_every = 0;    // epochs between validations; 0: not known yet
};

nlohmann::json to_json(const Progress& progress);

// A checkpoint file before its arrays become tensors. Does not depend on torch.
struct StoredCheckpoint {
  using Arrays = std::map<std::string, Array<float>>;  // by parameter

  int64_t epoch = 0;
  int64_t steps = 0;
  Progress progress;
  nlohmann::json options;
  std::map<std::string, Arrays> lists;  // weight, average, …; see checkpoint.h
};

// `shapes` gives names and shapes of the parameters. Throws Error if the file holds arrays of
// another model.
StoredCheckpoint read_checkpoint(const std::string& path,
                                 const std::map<std::string, std::vector<int64_t>>& shapes);

}  // namespace lase
