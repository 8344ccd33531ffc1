#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/inference/explain.h"

namespace lase {

struct ExplainLinkOptions {
  int64_t source = -1;  // node; −1: that of the row
  int64_t target = -1;
  int64_t row = -1;           // of the targets; −1: the first one between the nodes
  std::string relation = {};  // of the link, if links have relations; empty: that of the row
  ExplainOptions shown = {};  // the node is ignored
};

// The effects of inputs of the decoder: each one alone, largest first, and all together.
struct InputEffects {
  double all = 0;
  std::vector<FeatureEffect> top = {};
};

// Explains the output for a link e = (u, v),
//
//   decoder(h(u), h(v), f(e), s(u, v))
//
// by f(e), s(u, v), and by the features and links of u and of v. The link is explained with exactly
// the messages that it is predicted with: see LinkPredictor. A pair that is not a target, in link
// prediction, sees all links.
struct LinkExplanation {
  int64_t row = -1;  // of the targets; −1: not a target
  std::string relation = {};
  // The attributes of the link itself, relative to the mean of the training targets (0 if they are
  // sparse), at most as many as ExplainOptions::features.
  InputEffects attributes = {};
  // The statistics of the pair that the decoder reads, relative to their means over target links.
  // See pair_statistics().
  InputEffects statistics = {};
  // Effects through the embedding of one end, with that of the other end fixed. Output and score
  // are those of the link.
  Explanation source = {};
  Explanation target = {};
};

// Throws Error if there is no such link to explain. Error messages name the graph by `path`.
LinkExplanation explain_link(const TrainedModel& trained, const Graph& given,
                             const std::string& path, const ExplainLinkOptions& options);

}  // namespace lase
