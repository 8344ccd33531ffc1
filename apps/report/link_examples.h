#pragma once

#include "lase/inference/link_prediction.h"
#include "lase/inference/predict_links.h"

#include "report/page_parts.h"

namespace lase::page {

// "source → target".
std::string link_name(const Graph& graph, int64_t link);

// A table of links in groups: confident, wrong and borderline decisions; the largest errors of
// regression; or the best and worst ranks of link prediction.
json link_examples(const LinkPredictor& predictor, const Evaluated& evaluated);

}  // namespace lase::page
