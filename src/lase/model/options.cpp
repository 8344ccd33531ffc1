#include "lase/model/options.h"

#include <array>

#include "lase/base/names.h"

namespace lase {
namespace {

// Names in the order of the enumerators.
constexpr std::array<std::string_view, 7> kArchitectures = {"sage", "rw",        "wl", "concat",
                                                            "gcn",  "graphsage", "raw"};
constexpr std::array<std::string_view, 3> kCombines = {"add", "multiply", "concat"};
constexpr std::array<std::string_view, 3> kAmplifiers = {"sigmoid", "linear", "none"};
constexpr std::array<std::string_view, 3> kAggregates = {"sum", "mean", "max"};

}  // namespace

std::string_view name_of(Architecture value) { return kArchitectures[static_cast<size_t>(value)]; }
std::string_view name_of(Combine value) { return kCombines[static_cast<size_t>(value)]; }
std::string_view name_of(ops::Amplifier value) { return kAmplifiers[static_cast<size_t>(value)]; }
std::string_view name_of(ops::Aggregate value) { return kAggregates[static_cast<size_t>(value)]; }

Architecture architecture_from(std::string_view name) {
  return value_named<Architecture>(name, kArchitectures, "model");
}
Combine combine_from(std::string_view name) {
  return value_named<Combine>(name, kCombines, "combination");
}
ops::Amplifier amplifier_from(std::string_view name) {
  return value_named<ops::Amplifier>(name, kAmplifiers, "amplifier");
}
ops::Aggregate aggregate_from(std::string_view name) {
  return value_named<ops::Aggregate>(name, kAggregates, "aggregate");
}

bool sums_terms(const ModelOptions& options) {
  return options.aggregate != ops::Aggregate::kMax || options.architecture == Architecture::kGcn ||
         options.architecture == Architecture::kGraphSage ||
         options.architecture == Architecture::kRaw;
}

}  // namespace lase
