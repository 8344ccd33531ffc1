#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/attributes.h"
#include "lase/base/option_table.h"
#include "lase/base/random.h"

namespace lase {

// A random graph whose labels are planted with known strength in the nodes, in the links, and in
// nodes and links jointly.
//
// Node u has a label y, a type t and a group z with y = z + t mod classes. Its features are
//
//   x(u) = node_signal P(y) + [joint_signal > 0] T(t) + noise            P, T: random vectors
//
// Every link has a kind, and its attributes are the vector of that kind (plus noise if dense).
// There are two sorts of links:
//
// - Joint links, a fraction joint_signal of all links, join nodes of equal z. Their kind is
//   t(u) + t(v) + z, which is t(v) + y(u) from the side of u and t(u) + y(v) from the side of v.
//   They come in bundles that join one node of each type to one node of each type, so every
//   neighborhood contains every type and every kind equally often: nodes alone and links alone
//   carry no information about y (figure 3 of the paper), but together they determine it.
// - Free links join nodes of equal label with probability homophily, and any nodes otherwise. If
//   the labels are equal, the kind is the label with probability link_signal; else it is random.
//
// Degrees are heavy-tailed. Every link is a function of the seed and its index, so a large graph
// can be streamed to a file.
struct PlantedOptions {
  int64_t nodes = 10'000;
  int64_t links = 100'000;
  int64_t classes = 4;
  int64_t node_dim = 32;
  int64_t link_dim = 8;
  double node_signal = 0;
  double link_signal = 0;
  double joint_signal = 1;
  double homophily = 0.5;
  double noise = 1;
  Layout layout = Layout::kDictionary;
  std::string split = "65/15/20";
  uint64_t seed = 1;
};

const OptionTable<PlantedOptions>& planted_option_table();

class PlantedGraph {
 public:
  // Throws Error if the options are inconsistent or the graph would be too dense.
  explicit PlantedGraph(PlantedOptions options);

  const PlantedOptions& options() const { return options_; }
  int32_t label(int64_t u) const;
  void features(int64_t u, float* out) const;  // [node_dim]

  // The links that u owns (each link has one owner): their other endpoints; index of the first.
  void owned(int64_t u, std::vector<int32_t>& ends) const;
  int64_t first_link(int64_t u) const { return first_link_[static_cast<size_t>(u)]; }

  int32_t kind(int64_t link, int64_t u, int64_t v) const;
  int64_t kinds() const { return options_.classes; }
  // Attributes of a link of this kind: pairs if sparse, otherwise out[link_dim].
  void attributes(int64_t link, int32_t kind, float* out) const;
  struct Stored {
    int32_t column;
    float value;
  };
  void attributes(int64_t link, int32_t kind, std::vector<Stored>& out) const;

 private:
  int64_t type(int64_t u) const { return u % options_.classes; }
  int64_t z(int64_t u) const { return u / options_.classes % options_.classes; }
  bool grouped(int64_t u) const { return u < groups_ * options_.classes; }
  bool owns(int64_t u, int64_t v) const;
  bool joint_pair(int64_t u, int64_t v) const;
  void plan_joint_links();
  void plan_free_links(int64_t count);
  void joint_partners(int64_t group, std::vector<int64_t>& partners) const;
  int64_t free_end(Random& random, int64_t u, bool same_label) const;

  PlantedOptions options_;
  int64_t groups_ = 0;                  // groups of `classes` nodes, one per type
  std::vector<int32_t> joint_bundles_;  // [groups]: bundles owned by each group
  std::vector<int32_t> free_links_;     // [nodes]: free links owned by each node
  std::vector<int64_t> first_link_;     // [nodes+1]
  std::vector<float> label_vectors_;    // P [classes, node_dim]
  std::vector<float> type_vectors_;     // T [classes, node_dim]
  std::vector<float> kind_vectors_;     // [classes, link_dim]
};

}  // namespace lase
