#pragma once

#include <iosfwd>

#include "lase/inference/objective.h"

// Prints the probabilities above which a class is predicted, if they were tuned on validation
// nodes.
void print_thresholds(const lase::Objective& objective, std::ostream& out);
