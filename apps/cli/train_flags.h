#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "lase/train/trainer.h"

// The options of training, as flags; for whatever verb trains.
struct TrainFlags {
  lase::TrainOptions train;
  std::string model = "sage";
  std::string combine = "add";
  std::string amplifier = "sigmoid";
  std::string aggregate = "mean";
  std::string gate = "scalar";
  std::string schedule = "constant";
  std::string scale = "standard";
  std::string select = "score";
  std::string fanout = "auto";
  std::string strategy = "auto";
  std::string draw = "without";
  std::string renewal = "auto";
  std::string features = "none";
  std::string features_order = "second";
  lase::FeatureOptions learned;
  bool no_normalize = false;
};

// `flags` must outlive the verb.
void declare_train_flags(CLI::App& verb, TrainFlags& flags);
lase::TrainOptions resolved(const TrainFlags& flags);
