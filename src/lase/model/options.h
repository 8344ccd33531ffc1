#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/ops/gated_sum.h"

namespace lase {

enum class Architecture : uint8_t { kSage, kRw, kWl, kConcat, kGcn, kGraphSage, kRaw };
enum class Combine : uint8_t { kAdd, kMultiply, kConcat };

struct ModelOptions {
  Architecture architecture = Architecture::kSage;
  std::vector<int64_t> widths = {128, 128};
  Combine combine = Combine::kAdd;
  ops::Amplifier amplifier = ops::Amplifier::kSigmoid;
  ops::Aggregate aggregate = ops::Aggregate::kMean;
  bool gate = true;
  int64_t depth = 1;      // relabellings of LASE-WL
  int64_t project = 0;    // h^(0) = W^(0) f(u) of that width; 0: h^(0) = f(u)
  double dropout = 0.5;   // of a node's own state in every layer, and of the head's input
  bool normalize = true;  // the last hidden state to length one
};

// Whether neighbourhoods are summed or averaged: not where the largest term is taken, which GCN,
// GraphSAGE and features alone never do.
bool sums_terms(const ModelOptions& options);

// The words of the command line for these, and back; one table each for flags, files and messages.
std::string_view name_of(Architecture value);
std::string_view name_of(Combine value);
std::string_view name_of(ops::Amplifier value);
std::string_view name_of(ops::Aggregate value);
Architecture architecture_from(std::string_view name);
Combine combine_from(std::string_view name);
ops::Amplifier amplifier_from(std::string_view name);
ops::Aggregate aggregate_from(std::string_view name);

// What a model must know of the data.
struct ModelShape {
  int64_t node_features = 0;
  int64_t link_attributes = 0;
  int64_t outputs = 0;
};

}  // namespace lase
