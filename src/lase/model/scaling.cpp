#include "lase/model/scaling.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/message.h"
#include "lase/base/parallel.h"
#include "lase/base/process_group.h"

namespace lase {

using at::Tensor;

namespace {

struct Moments {
  Tensor mean;
  Tensor scale;   // 1 / standard deviation
  Tensor unseen;  // bool: the values of all rows are 0
};

Moments identity(int64_t columns) {
  return {at::zeros({columns}, at::kFloat), at::ones({columns}, at::kFloat),
          at::zeros({columns}, at::kBool)};
}

// The weights of a column that is always 0 in training keep their random initial values, which
// should not be multiplied by other values later.
void ignore_unseen(Moments& columns) { columns.scale.masked_fill_(columns.unseen, 0); }

__extension__ using Int128 = __int128;

// Σ x and Σ x² of a column, as integers in units of 2^−scale and 2^−2·scale, where the largest |x|
// has kBits bits. Unlike sums of floating-point numbers, they do not depend on the order of the
// rows, and so not on the process that has a row.
struct ColumnSum {
  float largest = 0;   // |x|, of the first pass
  int scale = 0;       // of the second pass
  double factor = 1;   // 2^scale
  int64_t stored = 0;  // values
  Int128 sum = 0;
  Int128 squares = 0;

  void see(float value) { largest = std::max(largest, std::abs(value)); }
  void choose_scale() {
    constexpr int kBits = 40;
    if (largest > 0) scale = kBits - 1 - std::ilogb(largest);
    factor = std::ldexp(1.0, scale);
  }
  void add(float value, int64_t times) {
    const int64_t x = std::llrint(double{value} * factor);
    stored += times;
    sum += Int128{x} * times;
    squares += Int128{x} * x * times;
  }
  void add(const ColumnSum& other) {
    largest = std::max(largest, other.largest);
    stored += other.stored;
    sum += other.sum;
    squares += other.squares;
  }
  double total() const { return std::ldexp(static_cast<double>(sum), -scale); }
  double total_of_squares() const { return std::ldexp(static_cast<double>(squares), -2 * scale); }
};

// Sums over rows of a matrix.
struct Sums {
  std::vector<ColumnSum> columns;
  int64_t rows = 0;

  void add(const Sums& other) {
    rows += other.rows;
    for (size_t j = 0; j < columns.size(); ++j) columns[j].add(other.columns[j]);
  }
};

// Adds the sums of the other processes.
void add_others(ProcessGroup& group, Sums& sums) {
  Message own;
  append(own, std::vector<int64_t>{sums.rows});
  append(own, sums.columns);
  const std::vector<Message> questions(static_cast<size_t>(group.size()));
  const auto all = ask(group, questions, [&](const Message&) { return own; });
  for (int64_t i = 0; i < group.size(); ++i) {
    if (i == group.rank()) continue;
    MessageReader reader(all[static_cast<size_t>(i)]);
    Sums others;
    others.rows = reader.next<int64_t>().at(0);
    others.columns = reader.next<ColumnSum>();
    require(others.columns.size() == sums.columns.size(),
            "the processes have matrices of different widths");
    sums.add(others);
  }
}

// The sums of the rows of a matrix that visit_rows(u, add) passes to add(row) for every node
// u < `nodes`, and of those of other processes.
template <class VisitRows>
class RowSums {
 public:
  RowSums(const Attributes& matrix, int64_t nodes, const VisitRows& visit_rows,
          ProcessGroup* processes)
      : matrix_(matrix), nodes_(nodes), visit_rows_(visit_rows), processes_(processes) {
    // With few codes, rows are counted by code and every code is read once.
    if (matrix.layout == Layout::kDictionary && matrix.codes() <= kMaxCodes) count_codes();
  }

  Sums run() const {
    Sums sums;
    sums.columns.resize(static_cast<size_t>(matrix_.columns));
    add_values(sums, [](ColumnSum& column, float value, int64_t) { column.see(value); });
    for (ColumnSum& column : sums.columns) column.choose_scale();
    sums.rows = 0;
    add_values(sums, [](ColumnSum& column, float value, int64_t n) { column.add(value, n); });
    return sums;
  }

 private:
  // Calls run(first, last) for ranges of nodes, in parallel.
  template <class Run>
  void for_chunks(const Run& run) const {
    constexpr int64_t kChunks = 32;
    const int64_t chunk = std::max<int64_t>(4096, (nodes_ + kChunks - 1) / kChunks);
    parallel_for(nodes_, chunk, run);
  }

  void count_codes() {
    equal_.resize(static_cast<size_t>(matrix_.codes()));
    std::mutex mutex;
    for_chunks([&](int64_t first, int64_t last) {
      std::vector<EqualRows> found(equal_.size());
      for (int64_t u = first; u < last; ++u) {
        visit_rows_(u, [&](int64_t row) {
          EqualRows& rows = found[static_cast<size_t>(matrix_.code[row])];
          rows = {row, rows.number + 1};
        });
      }
      const std::lock_guard lock(mutex);
      for (size_t code = 0; code < found.size(); ++code) {
        if (found[code].number == 0) continue;
        equal_[code] = {found[code].row, equal_[code].number + found[code].number};
      }
    });
  }

  // Calls visit(column, value, n) for the stored values of all rows, where n rows are equal.
  template <class Visit>
  void add_values(Sums& sums, const Visit& visit) const {
    const Sums empty = sums;
    const auto add_row = [&](Sums& to, int64_t row, int64_t n) {
      to.rows += n;
      matrix_.for_each(row, [&](int64_t j, float value) {
        visit(to.columns[static_cast<size_t>(j)], value, n);
      });
    };
    for (const EqualRows& rows : equal_) {
      if (rows.number > 0) add_row(sums, rows.row, rows.number);
    }
    std::mutex mutex;
    const auto add_chunk = [&](int64_t first, int64_t last) {
      Sums part = empty;
      for (int64_t u = first; u < last; ++u) {
        visit_rows_(u, [&](int64_t row) { add_row(part, row, 1); });
      }
      const std::lock_guard lock(mutex);
      sums.add(part);
    };
    if (equal_.empty()) for_chunks(add_chunk);
    if (processes_ != nullptr) add_others(*processes_, sums);
  }

  static constexpr int64_t kMaxCodes = 1 << 16;
  const Attributes& matrix_;
  int64_t nodes_;
  const VisitRows& visit_rows_;
  ProcessGroup* processes_;
  struct EqualRows {
    int64_t row = 0;  // one of them
    int64_t number = 0;
  };
  std::vector<EqualRows> equal_;  // by code
};

Moments unscaled(const Sums& sums) {
  Moments result = identity(std::ssize(sums.columns));
  auto* unseen = result.unseen.data_ptr<bool>();
  for (size_t j = 0; j < sums.columns.size() && sums.rows > 0; ++j) {
    unseen[j] = sums.columns[j].squares == 0;
  }
  return result;
}

// Sparse columns are not shifted; those whose stored values are large, such as amounts, are divided
// by their root mean square.
Moments scale_of_large_columns(const Sums& sums) {
  constexpr double kLarge = 10;
  Moments result = unscaled(sums);
  for (size_t j = 0; j < sums.columns.size(); ++j) {
    const ColumnSum& column = sums.columns[j];
    if (column.stored == 0) continue;
    const double root_mean_square =
        std::sqrt(column.total_of_squares() / static_cast<double>(column.stored));
    if (root_mean_square <= kLarge) continue;
    result.scale.data_ptr<float>()[j] = static_cast<float>(1 / root_mean_square);
  }
  return result;
}

Moments standardization(const Sums& sums) {
  Moments result = unscaled(sums);
  const auto n = static_cast<double>(sums.rows);
  for (size_t j = 0; j < sums.columns.size() && sums.rows > 0; ++j) {
    const double mean = sums.columns[j].total() / n;
    const double mean_square = sums.columns[j].total_of_squares() / n;
    const double variance = mean_square - mean * mean;
    // Rounding leaves a little variance in a constant column.
    constexpr double kTolerance = 1e-10;
    if (variance <= kTolerance * mean_square) continue;
    result.mean.data_ptr<float>()[j] = static_cast<float>(mean);
    result.scale.data_ptr<float>()[j] = static_cast<float>(1 / std::sqrt(variance));
  }
  return result;
}

template <class VisitRows>
Moments moments(const Attributes& matrix, int64_t nodes, ProcessGroup* processes,
                const VisitRows& visit_rows) {
  const Sums sums = RowSums(matrix, nodes, visit_rows, processes).run();
  return matrix.layout == Layout::kSparse ? scale_of_large_columns(sums) : standardization(sums);
}

// 2 / √(mean of ‖learned features‖²) over the training nodes
double learned_scale(const Attributes& features, const std::vector<bool>& training,
                     const AddedColumns& added) {
  const int64_t first = features.columns - added.all();
  double squares = 0;
  double rows = 0;
  for (int64_t u = 0; u < features.rows; ++u) {
    if (!training[static_cast<size_t>(u)]) continue;
    ++rows;
    features.for_each(u, [&](int64_t j, float value) {
      if (j >= first && j < first + added.learned) squares += double{value} * double{value};
    });
  }
  constexpr double kLength = 2;
  return squares > 0 ? kLength / std::sqrt(squares / rows) : 1;
}

}  // namespace

Scaling fit_scaling(const Graph& graph, const std::vector<bool>& training, NodeScaling nodes,
                    const AddedColumns& added, ProcessGroup* processes) {
  const int64_t n = graph.node_count();
  Moments node = identity(graph.nodes.features.columns);
  if (nodes == NodeScaling::kAuto) {
    const bool sparse = graph.nodes.features.layout == Layout::kSparse;
    nodes = sparse ? NodeScaling::kL2 : NodeScaling::kStandard;
  }
  const int64_t own = graph.nodes.features.columns - added.all();
  if (nodes == NodeScaling::kL2 && added.learned > 0) {
    node.scale.narrow(0, own, added.learned)
        .fill_(learned_scale(graph.nodes.features, training, added));
  }
  if (nodes == NodeScaling::kStandard && graph.nodes.features.layout != Layout::kSparse) {
    node = moments(graph.nodes.features, n, processes, [&](int64_t u, const auto& add) {
      if (training[static_cast<size_t>(u)]) add(u);
    });
  }
  node.mean.narrow(0, own + added.learned, added.labels).fill_(0);
  node.scale.narrow(0, own + added.learned, added.labels).fill_(1);
  Moments link = moments(graph.link_attributes, n, processes, [&](int64_t u, const auto& add) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) add(graph.link[i]);
  });
  ignore_unseen(link);
  return {.nodes = nodes,
          .added = added,
          .node_mean = node.mean,
          .node_scale = node.scale,
          .link_mean = link.mean,
          .link_scale = link.scale};
}

void fit_target_scaling(const LinkTargets& targets, std::span<const int64_t> training,
                        Scaling& scaling) {
  Moments target =
      moments(targets.attributes, std::ssize(training), nullptr,
              [&](int64_t i, const auto& add) { add(training[static_cast<size_t>(i)]); });
  ignore_unseen(target);
  scaling.target_mean = target.mean;
  scaling.target_scale = target.scale;
}

}  // namespace lase
