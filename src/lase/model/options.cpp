#include "lase/model/options.h"

#include <array>

#include "lase/base/error.h"

namespace lase {
namespace {

// Names in the order of the enumerators.
constexpr std::array<std::string_view, 7> kArchitectures = {"sage", "rw",        "wl", "concat",
                                                            "gcn",  "graphsage", "raw"};
constexpr std::array<std::string_view, 3> kCombines = {"add", "multiply", "concat"};
constexpr std::array<std::string_view, 3> kAmplifiers = {"sigmoid", "linear", "none"};
constexpr std::array<std::string_view, 3> kAggregates = {"sum", "mean", "max"};

template <class Enum, size_t n>
Enum find(std::string_view name, const std::array<std::string_view, n>& names,
          std::string_view what) {
  for (size_t i = 0; i < n; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  fail("there is no ", what, " called ", quote(name));
}

}  // namespace

std::string_view name_of(Architecture value) { return kArchitectures[static_cast<size_t>(value)]; }
std::string_view name_of(Combine value) { return kCombines[static_cast<size_t>(value)]; }
std::string_view name_of(ops::Amplifier value) { return kAmplifiers[static_cast<size_t>(value)]; }
std::string_view name_of(ops::Aggregate value) { return kAggregates[static_cast<size_t>(value)]; }

Architecture architecture_from(std::string_view name) {
  return find<Architecture>(name, kArchitectures, "model");
}
Combine combine_from(std::string_view name) {
  return find<Combine>(name, kCombines, "combination");
}
ops::Amplifier amplifier_from(std::string_view name) {
  return find<ops::Amplifier>(name, kAmplifiers, "amplifier");
}
ops::Aggregate aggregate_from(std::string_view name) {
  return find<ops::Aggregate>(name, kAggregates, "aggregate");
}

bool sums_terms(const ModelOptions& options) {
  return options.aggregate != ops::Aggregate::kMax || options.architecture == Architecture::kGcn ||
         options.architecture == Architecture::kGraphSage ||
         options.architecture == Architecture::kRaw;
}

}  // namespace lase
