#pragma once

#include <memory>

#include "lase/inference/objective.h"

// The objectives of this folder, one per file.
namespace lase {

std::unique_ptr<Objective> single_label(const Labels& labels);
std::unique_ptr<Objective> multi_label(const Labels& labels);
std::unique_ptr<Objective> regression(const Labels& labels);

}  // namespace lase
