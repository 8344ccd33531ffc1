#pragma once

#include <memory>

#include "lase/inference/link_options.h"
#include "lase/inference/objective.h"

// The objectives of this folder, one per file.
namespace lase {

std::unique_ptr<Objective> single_label(const Labels& labels);
std::unique_ptr<Objective> multi_label(const Labels& labels);
std::unique_ptr<Objective> regression(const Labels& labels);
// `ranking` is for the names of metrics.
std::unique_ptr<Objective> link_prediction(Ranking ranking);

}  // namespace lase
