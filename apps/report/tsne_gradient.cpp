#include <algorithm>
#include <cmath>

#include "lase/base/parallel.h"

#include "report/tsne.h"

namespace lase::detail {
namespace {

constexpr int64_t kPoints = 256;  // points per chunk
constexpr int kLevels = 24;       // depth of the quadtree
constexpr int64_t kLeaf = 8;      // points per leaf, and points that traverse the tree together

// Spreads the bits of x to the even bit positions.
uint64_t spread_bits(uint32_t x) {
  uint64_t bits = x;
  bits = (bits | (bits << 16)) & 0x0000FFFF0000FFFFu;
  bits = (bits | (bits << 8)) & 0x00FF00FF00FF00FFu;
  bits = (bits | (bits << 4)) & 0x0F0F0F0F0F0F0F0Fu;
  bits = (bits | (bits << 2)) & 0x3333333333333333u;
  return (bits | (bits << 1)) & 0x5555555555555555u;
}

// A quadtree over points sorted along the Z-order curve, so that every cell is a range. Cells are
// stored in preorder: the next one is the first child, and `skip` is the index after all
// descendants.
class QuadTree {
 public:
  struct Cell {
    Point center;  // of mass
    double count = 0;
    double width2 = 0;  // negative: cannot be split, always counts as one point
    int32_t skip = 0;
    int32_t first = 0;  // points [first, last)
    int32_t last = 0;
  };

  explicit QuadTree(std::span<const Point> y) {
    sort(y);
    cells_.reserve(y.size());
    build(0, static_cast<int32_t>(y.size()), 0);
  }

  const std::vector<Cell>& cells() const { return cells_; }
  const std::vector<Point>& points() const { return points_; }  // in Z-order
  int64_t index(int64_t place) const { return order_[static_cast<size_t>(place)].second; }

 private:
  void sort(std::span<const Point> y) {
    Point low = y[0];
    Point high = y[0];
    for (const Point& point : y) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
    width_ = std::max(high.x - low.x, high.y - low.y);
    constexpr double kPlaces = 1 << kLevels;
    const double scale = width_ > 0 ? kPlaces / width_ : 0;
    const auto place = [&](double offset) {
      return spread_bits(static_cast<uint32_t>(std::min(kPlaces - 1, offset * scale)));
    };
    for (size_t i = 0; i < y.size(); ++i) {
      const uint64_t code = place(y[i].x - low.x) | (place(y[i].y - low.y) << 1);
      order_.emplace_back(code, static_cast<int32_t>(i));
    }
    std::sort(order_.begin(), order_.end());
    for (const auto& [code, i] : order_) points_.push_back(y[static_cast<size_t>(i)]);
  }

  // The end of the points in [first, last) that share a cell with the first at this level.
  int32_t end_of_cell(int32_t first, int32_t last, int level) const {
    const int shift = 2 * (kLevels - level);
    const uint64_t cell = order_[static_cast<size_t>(first)].first >> shift;
    const auto end =
        std::partition_point(order_.begin() + first, order_.begin() + last,
                             [&](const auto& entry) { return (entry.first >> shift) == cell; });
    return static_cast<int32_t>(end - order_.begin());
  }

  void build(int32_t first, int32_t last, int level) {
    // Skip levels at which all points are in one child.
    while (level < kLevels && end_of_cell(first, last, level + 1) == last) ++level;
    const size_t at = cells_.size();
    Cell cell{
        .center = {}, .count = static_cast<double>(last - first), .first = first, .last = last};
    for (int32_t i = first; i < last; ++i) {
      cell.center.x += points_[static_cast<size_t>(i)].x / cell.count;
      cell.center.y += points_[static_cast<size_t>(i)].y / cell.count;
    }
    const double width = std::ldexp(width_, -level);
    cell.width2 = level == kLevels ? -1 : width * width;
    cells_.push_back(cell);
    if (last - first > kLeaf && level < kLevels) {
      for (int32_t i = first; i < last;) {
        const int32_t end = end_of_cell(i, last, level + 1);
        build(i, end, level + 1);
        i = end;
      }
    }
    cells_[at].skip = static_cast<int32_t>(cells_.size());
  }

  std::vector<std::pair<uint64_t, int32_t>> order_;  // Z-order code, index
  std::vector<Point> points_;
  std::vector<Cell> cells_;
  double width_ = 0;
};

// Consecutive points in Z-order that traverse the tree together, one per SIMD lane.
struct Walkers {
  double x[kLeaf] = {};
  double y[kLeaf] = {};
  double force_x[kLeaf] = {};
  double force_y[kLeaf] = {};
  double w[kLeaf] = {};  // Σ w, including each point with itself
  Point low;
  Point high;

  explicit Walkers(std::span<const Point> points) : low(points[0]), high(points[0]) {
    for (size_t i = 0; i < static_cast<size_t>(kLeaf); ++i) {
      const Point& point = points[std::min(i, points.size() - 1)];
      x[i] = point.x;
      y[i] = point.y;
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
  }

  // From their bounding box.
  double distance2(const Point& to) const {
    const double dx = std::max({0.0, low.x - to.x, to.x - high.x});
    const double dy = std::max({0.0, low.y - to.y, to.y - high.y});
    return dx * dx + dy * dy;
  }

  void pushed_by(const Point& from, double count) {
    for (int64_t i = 0; i < kLeaf; ++i) {
      const double dx = x[i] - from.x;
      const double dy = y[i] - from.y;
      const double one = 1 / (1 + dx * dx + dy * dy);
      const double all = count * one;
      w[i] += all;
      force_x[i] += all * one * dx;
      force_y[i] += all * one * dy;
    }
  }

  void walk(const QuadTree& tree, double theta2) {
    const auto end = static_cast<int32_t>(tree.cells().size());
    for (int32_t at = 0; at < end;) {
      const QuadTree::Cell& cell = tree.cells()[static_cast<size_t>(at)];
      if (cell.width2 < theta2 * distance2(cell.center)) {
        pushed_by(cell.center, cell.count);
        at = cell.skip;
        continue;
      }
      if (cell.skip == ++at) {
        for (int32_t i = cell.first; i < cell.last; ++i) {
          pushed_by(tree.points()[static_cast<size_t>(i)], 1);
        }
      }
    }
  }
};

}  // namespace

Repulsion repulsion(std::span<const Point> y, double theta) {
  const QuadTree tree(y);
  Repulsion result{.force = std::vector<Point>(y.size())};
  std::vector<double> w(y.size());
  const auto n = static_cast<int64_t>(y.size());
  parallel_for(n, kPoints, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += kLeaf) {
      const auto count = static_cast<size_t>(std::min(kLeaf, last - i));
      Walkers walkers(std::span(tree.points()).subspan(static_cast<size_t>(i), count));
      walkers.walk(tree, theta * theta);
      for (size_t lane = 0; lane < count; ++lane) {
        const auto to = static_cast<size_t>(tree.index(i + static_cast<int64_t>(lane)));
        result.force[to] = {walkers.force_x[lane], walkers.force_y[lane]};
        w[to] = walkers.w[lane] - 1;
      }
    }
  });
  for (const double value : w) result.z += value;
  return result;
}

std::vector<Point> gradient(const Affinities& affinities, std::span<const Point> y, double theta,
                            double exaggeration) {
  const Repulsion apart = repulsion(y, theta);
  std::vector<Point> result(y.size());
  parallel_for(static_cast<int64_t>(y.size()), kPoints, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      Point together;
      const auto end = static_cast<size_t>(affinities.row_ptr[i + 1]);
      for (auto at = static_cast<size_t>(affinities.row_ptr[i]); at < end; ++at) {
        const Point& other = y[static_cast<size_t>(affinities.column[at])];
        const double dx = y[i].x - other.x;
        const double dy = y[i].y - other.y;
        const double share = affinities.p[at] / (1 + dx * dx + dy * dy);
        together.x += share * dx;
        together.y += share * dy;
      }
      result[i] = {exaggeration * together.x - apart.force[i].x / apart.z,
                   exaggeration * together.y - apart.force[i].y / apart.z};
    }
  });
  return result;
}

}  // namespace lase::detail
