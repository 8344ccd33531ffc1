#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lase/model/model.h"
#include "lase/sampler/sampler.h"
#include "lase/train/snapshot.h"

namespace lase {

// How the sums s(u) = Σ x_i over neighbourhoods are estimated from drawn arcs.
//
//   kUniform    all arcs of a row alike
//   kGate       in proportion to λ
//   kMinVar     in proportion to ‖x_i‖, the least variance of independent draws
//   kSnapshot   all alike, of the change since exact sums were taken: s̃(u) + Σ (x_i − x̃_i) / π_i
//   kAuto       whole neighbourhoods of small graphs; else kSnapshot, or kUniform where the terms
//               are not the same from one batch to the next, or not summed
enum class Strategy : uint8_t { kAuto, kUniform, kGate, kMinVar, kSnapshot };

// Whether a snapshot passes over the graph, or computes what batches touch; by which costs less.
enum class Renewal : uint8_t { kAuto, kEager, kLazy };

struct SamplingOptions {
  // A layer each, or one for all. Empty: 10; with a snapshot only in the last layer, and 1 before
  // it.
  std::vector<int64_t> fanout = {};
  Strategy strategy = Strategy::kAuto;
  Draw draw = Draw::kWithout;
  int64_t renew = 20;  // batches between two renewals
  Renewal renewal = Renewal::kAuto;
};

std::string_view name_of(Strategy value);
Strategy strategy_from(std::string_view name);
std::string_view name_of(Renewal value);
Renewal renewal_from(std::string_view name);

// Estimates sums while a model is trained: knows how to draw, and what to add to what is drawn, and
// renews both every so many batches.
class Estimator {
 public:
  // All must outlive it. `batch`: seeds of a batch.
  Estimator(const SamplingOptions& options, const Model& model, const Inputs& inputs,
            const Adjacency& graph, int64_t batch);

  // Whether it ever renews. A snapshot that is lazy cannot be had again to the last bit.
  bool renews() const;
  bool lazy() const { return lazy_; }
  // Batches that may be drawn before renew() is called again.
  int64_t batches_left() const { return left_; }
  void took(int64_t batches) { left_ -= batches; }
  // The next batch renews, whatever is left.
  void expire();
  // With the parameters as they are; it lasts for so many batches, or for those of the options.
  void renew(int64_t batches = 0);
  int64_t renewals() const { return renewals_; }

  // For people: "snapshot of 1,10 neighbours, renewed every 20 batches".
  std::string describe() const;

  const Sampling& sampling() const { return sampling_; }
  Snapshot* snapshot() { return snapshot_.get(); }

 private:
  bool cheaper_lazily(int64_t batch) const;

  SamplingOptions options_;
  const Model& model_;
  const Inputs& inputs_;
  const Adjacency& graph_;
  Sampling sampling_;
  std::unique_ptr<Snapshot> snapshot_;
  bool draws_ = false;  // from at least one row
  bool lazy_ = false;
  int64_t left_ = 0;
  int64_t renewals_ = 0;
};

}  // namespace lase
