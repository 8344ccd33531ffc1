#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lase/base/option_table.h"
#include "lase/model/description.h"

namespace lase {

// Nodes that take the place of one end of a link, to give a negative sample: all nodes with equal
// probability, in proportion to their degree, or nodes two links away from the other end.
enum class NegativeSampling : uint8_t { kUniform, kDegree, kTwoHop };
// Candidates among which a link is ranked: all nodes but the other end and those that are known to
// be linked to it (kFiltered), all nodes but the other end (kRaw), or a sample of the former
// (kSampled). kAuto: see ranking_for().
enum class Ranking : uint8_t { kAuto, kFiltered, kRaw, kSampled };

struct LinkPredictionOptions {
  std::optional<int64_t> negatives = {};  // per link; empty: see PredictedLinks
  NegativeSampling sampling = NegativeSampling::kUniform;
  std::string negative_file = {};  // pairs of nodes to sample from instead; empty: none
  Ranking ranking = Ranking::kAuto;
};
const OptionTable<LinkPredictionOptions>& link_prediction_option_table();

// Tasks whose seeds are links; see link_task.h.
struct LinkTaskOptions {
  std::string split = "80/10/10";  // of a graph without a split of links
  LinkPredictionOptions prediction;
};
const OptionTable<LinkTaskOptions>& link_task_option_table();

// A task and how its best epoch is selected.
struct TaskOptions {
  Predicts predicts = Predicts::kAuto;
  LinkTaskOptions links = {};
  uint64_t seed = 1;
  std::string select = "auto";  // see Objective::select
};

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<NegativeSampling> = {
    "uniform", "degree", "two-hop"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<Ranking> = {"auto", "filtered", "raw",
                                                                        "sampled"};

}  // namespace lase
