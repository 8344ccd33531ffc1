#pragma once

#include <cstdint>
#include <vector>

#include "lase/inference/ego.h"

namespace lase {

// The sums of layer l over the links of one node, term by term. Gates and amplifiers do not depend
// on other links, so the sum without link i is s − t_i, which costs one term instead of a new sum
// (with the maximum aggregator: the maximum of the other terms).
class OwnSums {
 public:
  using Values = std::vector<at::Tensor>;  // one [n, d] for each sum of the layer

  // Means and normalizers use `degree` as the number of links of the node.
  OwnSums(const Ego& ego, int64_t l, int64_t degree);

  const std::vector<ops::GatedSumInput>& inputs() const { return inputs_; }
  // The sums without one link, on average over the links: [1, d].
  Values center() const;
  // Without each of the given links, int64 [n].
  Values without(const at::Tensor& arcs) const;
  // With each row of `attributes`, float [n, k], in place of the attributes of one link.
  Values with_attributes(int64_t arc, const at::Tensor& attributes) const;

  // The gates λ of the given links: [n].
  at::Tensor gates(const at::Tensor& arcs) const;

  // Outputs [n, outputs] of the network with each of the n given values.
  at::Tensor outputs(const Values& s) const;
  // ∂ output / ∂ s at the given values: [1, d] each.
  Values gradient(const Values& at, int64_t output) const;

 private:
  // The given links as the neighborhoods of n targets with one link each. `f`, one row per link,
  // replaces their attributes.
  struct Single {
    Block block;
    std::vector<ops::GatedSumInput> inputs;
  };
  Single single(const at::Tensor& arcs, const ops::AttributeTensors* f = nullptr) const;
  static Values terms(const Single& links);  // t_i: [n, d]
  // The two largest terms of each column, for the maximum aggregator.
  void find_largest();

  const Ego& ego_;
  int64_t l_;
  Block block_;
  std::vector<ops::GatedSumInput> inputs_;
  Values all_;  // over all links: [1, d]
  struct Largest {
    at::Tensor arc;     // int64 [d]: the link with the largest term
    at::Tensor second;  // [d]: the largest term of the other links
  };
  std::vector<Largest> largest_;  // empty entries for sums and means
};

}  // namespace lase
