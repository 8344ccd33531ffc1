#pragma once

#include "experiments/runs.h"

// Progress of many runs: one line, rewritten on a terminal; otherwise one line per minute.
class RunLine {
 public:
  void show(const lase::RunProgress& progress);
  void clear();

 private:
  double next_ = 0;
};
