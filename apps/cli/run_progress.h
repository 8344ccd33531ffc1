#pragma once

#include "experiments/runs.h"

// A line for the progress of many runs: written over on a terminal, else one a minute.
class RunLine {
 public:
  void show(const lase::RunProgress& progress);
  void clear();

 private:
  double next_ = 0;
};
