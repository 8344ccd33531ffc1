#include "lase/graph/pca.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"

namespace lase {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXf;
using ConstMap = Eigen::Map<const Matrix>;

constexpr int64_t kRows = 1 << 12;      // rows per matrix product
constexpr int64_t kColumns = 16;        // columns of a product per chunk of work
constexpr int64_t kLargestGram = 2048;  // maximum number of columns for forming Xᵀ X

// The selected rows of a matrix with their weights; the distinct rows if it is dictionary-encoded.
class Sample {
 public:
  Sample(const Attributes& matrix, std::span<const int64_t> rows) : matrix_(matrix) {
    count_ = std::ssize(rows);
    if (matrix.layout == Layout::kDictionary) {
      table_ = Attributes::dense(matrix.values, matrix.codes(), matrix.columns);
      weight_.resize(static_cast<size_t>(matrix.codes()));
      for (const int64_t row : rows) ++weight_[static_cast<size_t>(matrix.code[row])];
      rows_.resize(weight_.size());
      std::iota(rows_.begin(), rows_.end(), int64_t{0});
    } else {
      rows_.assign(rows.begin(), rows.end());
    }
    if (matrix.layout != Layout::kSparse && matrix.columns <= kLargestGram) {
      gram_ = dense_gram_times(nullptr);
    }
  }

  int64_t count() const { return count_; }

  Vector mean() const {  // [columns]
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(matrix_.columns);
    for (size_t i = 0; i < rows_.size(); ++i) {
      source().for_each(rows_[i],
                        [&](int64_t j, float value) { sums[j] += weight(i) * double{value}; });
    }
    return (sums / static_cast<double>(count_)).cast<float>();
  }

  // Xᵀ X V: [columns, m]
  Matrix gram_times(const Matrix& v) const {
    if (matrix_.layout == Layout::kSparse) return sparse_gram_times(v);
    if (gram_.size() == 0) return dense_gram_times(&v);
    return gram_ * v;
  }

 private:
  const Attributes& source() const {
    return matrix_.layout == Layout::kDictionary ? table_ : matrix_;
  }
  double weight(size_t i) const { return weight_.empty() ? 1 : static_cast<double>(weight_[i]); }

  // Copies the rows of X from `first`, each scaled by the square root of its weight.
  void copy_rows(size_t first, Matrix& block) const {
    for (int64_t i = 0; i < block.rows(); ++i) {
      const size_t at = first + static_cast<size_t>(i);
      source().copy_row(rows_[at], block.data() + i * block.cols());
      if (!weight_.empty()) block.row(i) *= static_cast<float>(std::sqrt(weight(at)));
    }
  }

  // Xᵀ X V, or Xᵀ X if v is null. Each chunk computes some columns of the result over all rows, so
  // chunks never share an output and the result does not depend on the number of threads.
  Matrix dense_gram_times(const Matrix* v) const {
    const int64_t k = matrix_.columns;
    const int64_t m = v == nullptr ? k : v->cols();
    Matrix sum = Matrix::Zero(k, m);
    Matrix block;
    for (size_t first = 0; first < rows_.size(); first += kRows) {
      block.resize(static_cast<int64_t>(std::min<size_t>(kRows, rows_.size() - first)), k);
      copy_rows(first, block);
      parallel_for(m, kColumns, [&](int64_t begin, int64_t end) {
        auto to = sum.middleCols(begin, end - begin);
        if (v == nullptr) {
          to.noalias() += block.transpose() * block.middleCols(begin, end - begin);
        } else {
          const Matrix product = block * v->middleCols(begin, end - begin);
          to.noalias() += block.transpose() * product;
        }
      });
    }
    return sum;
  }

  Matrix sparse_gram_times(const Matrix& v) const {
    const int64_t m = v.cols();
    Matrix sum = Matrix::Zero(v.rows(), m);
    const int64_t columns = (m + thread_count() - 1) / thread_count();
    parallel_for(m, columns, [&](int64_t first, int64_t last) {
      const int64_t width = last - first;
      Eigen::RowVectorXf product(width);
      for (const int64_t row : rows_) {
        product.setZero();
        matrix_.for_each(row, [&](int64_t j, float value) {
          product += value * v.row(j).segment(first, width);
        });
        matrix_.for_each(row, [&](int64_t j, float value) {
          sum.row(j).segment(first, width) += value * product;
        });
      }
    });
    return sum;
  }

  const Attributes& matrix_;
  Attributes table_;
  std::vector<int64_t> rows_;
  std::vector<int64_t> weight_;
  int64_t count_ = 0;
  Matrix gram_;  // Xᵀ X, if it is small
};

template <class Dense>
Array<float> to_array(const Dense& values) {
  return std::vector<float>(values.data(), values.data() + values.size());
}

// Orthonormal basis of the column space.
Matrix orthonormal(const Matrix& columns) {
  const Eigen::HouseholderQR<Eigen::MatrixXf> qr(columns);
  return qr.householderQ() * Eigen::MatrixXf::Identity(columns.rows(), columns.cols());
}

// Flips columns so that the entry with the largest absolute value is positive.
void fix_signs(Matrix& components) {
  for (int64_t c = 0; c < components.cols(); ++c) {
    int64_t largest = 0;
    components.col(c).cwiseAbs().maxCoeff(&largest);
    if (components(largest, c) < 0) components.col(c) *= -1;
  }
}

}  // namespace

Reduction fit_pca(const Attributes& matrix, std::span<const int64_t> rows,
                  const PcaOptions& options) {
  const int64_t k = matrix.columns;
  require(options.components >= 1 && options.components <= k, "cannot reduce ", k, " columns to ",
          options.components, " components, expected 1 to ", k);
  require(!rows.empty(), "cannot reduce to ", options.components,
          " components: there are no training rows to fit them on");
  const Sample sample(matrix, rows);
  const auto n = static_cast<float>(sample.count());
  const Vector mean = sample.mean();
  const auto covariance_times = [&](const Matrix& v) -> Matrix {
    return (sample.gram_times(v) - n * mean * (mean.transpose() * v)) / n;
  };
  const int64_t m = std::min(k, options.components + options.oversampling);
  Matrix v(k, m);
  Random random(options.seed, 0x504341);
  for (int64_t i = 0; i < k * m; ++i) v.data()[i] = static_cast<float>(random.normal());
  Matrix image;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    v = orthonormal(v);
    image = covariance_times(v);
    if (iteration + 1 < options.iterations) v = image;
  }
  // Rayleigh–Ritz within the subspace: vᵀ C v = w diag(variance) wᵀ, in ascending order.
  const Eigen::MatrixXf inner = v.transpose() * image;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXf> solver((inner + inner.transpose()) / 2);
  const Eigen::MatrixXf w = solver.eigenvectors().rowwise().reverse().leftCols(options.components);
  Matrix components = v * w;
  fix_signs(components);
  return {.mean = to_array(mean), .components = to_array(components), .names = {}};
}

Attributes reduce(const Attributes& matrix, const Reduction& reduction) {
  require(matrix.columns == reduction.columns(), "a reduction fitted on ", reduction.columns(),
          " columns cannot be applied to ", matrix.columns, " columns");
  const int64_t k = reduction.columns();
  const int64_t d = reduction.kept();
  if (matrix.layout == Layout::kDictionary) {
    Attributes result = matrix;
    const Attributes table = Attributes::dense(matrix.values, matrix.codes(), k);
    result.values = reduce(table, reduction).values;
    result.columns = d;
    return result;
  }
  const ConstMap components(reduction.components.data(), k, d);
  const Eigen::Map<const Eigen::RowVectorXf> mean(reduction.mean.data(), k);
  const Eigen::RowVectorXf shift = mean * components;
  std::vector<float> values(static_cast<size_t>(matrix.rows * d));
  parallel_for(matrix.rows, kRows, [&](int64_t first, int64_t last) {
    Eigen::Map<Matrix> out(values.data() + first * d, last - first, d);
    if (matrix.layout == Layout::kDense) {
      out.noalias() = ConstMap(matrix.values.data() + first * k, last - first, k) * components;
    } else {
      out.setZero();
      for (int64_t row = first; row < last; ++row) {
        matrix.for_each(row, [&](int64_t j, float value) {
          out.row(row - first) += value * components.row(j);
        });
      }
    }
    out.rowwise() -= shift;
  });
  return Attributes::dense(std::move(values), matrix.rows, d);
}

namespace {

bool is_training(const Graph& graph, int64_t node) {
  return graph.nodes.split.empty() ||
         graph.nodes.split[node] == static_cast<uint8_t>(Split::kTrain);
}

bool is_training_link(const Graph& graph, int64_t row) {
  return graph.link_split.empty() ||
         graph.link_split[graph.link_of_row(row)] == static_cast<uint8_t>(Split::kTrain);
}

void reduce_matrix(Attributes& matrix, StringTable& names, Reduction& reduction,
                   std::span<const int64_t> rows, const PcaOptions& options,
                   const Reduction& fitted) {
  reduction = fitted.present() ? fitted : fit_pca(matrix, rows, options);
  if (!fitted.present()) reduction.names = names;
  matrix = reduce(matrix, reduction);
  names = numbered_names("component ", reduction.kept());
}

}  // namespace

void reduce_nodes(Graph& graph, const PcaOptions& options, const Reduction& fitted) {
  std::vector<int64_t> rows;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (is_training(graph, u)) rows.push_back(u);
  }
  reduce_matrix(graph.nodes.features, graph.nodes.feature_names, graph.node_reduction, rows,
                options, fitted);
}

void reduce_links(Graph& graph, const PcaOptions& options, const Reduction& fitted) {
  std::vector<int64_t> rows;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int32_t v = graph.neighbor[i];
      // An undirected link counts once, unless each direction has its own attributes.
      const bool counts = graph.directed || graph.separate_directions || u <= v;
      const bool training =
          is_training(graph, u) && is_training(graph, v) && is_training_link(graph, graph.link[i]);
      if (counts && training) rows.push_back(graph.link[i]);
    }
  }
  reduce_matrix(graph.link_attributes, graph.attribute_names, graph.link_reduction, rows, options,
                fitted);
}

}  // namespace lase
