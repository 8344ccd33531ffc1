#include "lase/reduce/pca.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <numeric>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"

namespace lase {
namespace {

using at::Tensor;

constexpr int64_t kBlock = 1 << 14;  // rows that are multiplied at a time

Tensor view(const float* data, int64_t rows, int64_t columns) {
  return at::from_blob(const_cast<float*>(data), {rows, columns}, at::kFloat);
}

// The chosen rows of a matrix with how often each counts: distinct rows where coded.
class Sample {
 public:
  Sample(const Attributes& matrix, std::span<const int64_t> rows) : matrix_(matrix) {
    count_ = static_cast<int64_t>(rows.size());
    if (matrix.layout == Layout::kCoded) {
      table_ = Attributes::dense(matrix.values, matrix.codes(), matrix.columns);
      weight_.resize(static_cast<size_t>(matrix.codes()));
      for (const int64_t row : rows) ++weight_[static_cast<size_t>(matrix.code[row])];
      rows_.resize(weight_.size());
      std::iota(rows_.begin(), rows_.end(), int64_t{0});
    } else {
      rows_.assign(rows.begin(), rows.end());
    }
  }

  int64_t count() const { return count_; }

  Tensor mean() const {  // [columns]
    std::vector<double> sums(static_cast<size_t>(matrix_.columns));
    for (size_t i = 0; i < rows_.size(); ++i) {
      source().for_each(rows_[i], [&](int64_t j, float value) {
        sums[static_cast<size_t>(j)] += weight(i) * double{value};
      });
    }
    return (at::from_blob(sums.data(), {matrix_.columns}, at::kDouble) /
            static_cast<double>(count_))
        .to(at::kFloat);
  }

  // Xᵀ X V: [columns, m]
  Tensor gram_times(const Tensor& v) const {
    return matrix_.layout == Layout::kSparse ? sparse_gram_times(v) : dense_gram_times(v);
  }

 private:
  const Attributes& source() const { return matrix_.layout == Layout::kCoded ? table_ : matrix_; }
  double weight(size_t i) const { return weight_.empty() ? 1 : static_cast<double>(weight_[i]); }

  Tensor dense_gram_times(const Tensor& v) const {
    const int64_t k = matrix_.columns;
    Tensor sum = at::zeros_like(v);
    Tensor block = at::empty({kBlock, k}, at::kFloat);
    for (size_t first = 0; first < rows_.size(); first += kBlock) {
      const auto rows = static_cast<int64_t>(std::min<size_t>(kBlock, rows_.size() - first));
      for (int64_t i = 0; i < rows; ++i) {
        const size_t at = first + static_cast<size_t>(i);
        float* out = block.data_ptr<float>() + i * k;
        source().copy_row(rows_[at], out);
        if (!weight_.empty()) {
          for (int64_t j = 0; j < k; ++j) out[j] *= static_cast<float>(std::sqrt(weight(at)));
        }
      }
      const Tensor x = block.narrow(0, 0, rows);
      sum.addmm_(x.t(), at::mm(x, v));
    }
    return sum;
  }

  // Each thread takes some columns of V for all rows, so that none writes where another does.
  Tensor sparse_gram_times(const Tensor& v) const {
    const int64_t m = v.size(1);
    Tensor sum = at::zeros_like(v);
    const float* from = v.data_ptr<float>();
    float* to = sum.data_ptr<float>();
    const int64_t grain = (m + thread_count() - 1) / thread_count();
    parallel_for(m, grain, [&](int64_t first, int64_t last) {
      std::vector<float> product(static_cast<size_t>(last - first));
      for (const int64_t row : rows_) {
        std::fill(product.begin(), product.end(), 0.0F);
        matrix_.for_each(row, [&](int64_t j, float value) {
          const float* source_row = from + j * m + first;
          for (size_t c = 0; c < product.size(); ++c) product[c] += value * source_row[c];
        });
        matrix_.for_each(row, [&](int64_t j, float value) {
          float* target_row = to + j * m + first;
          for (size_t c = 0; c < product.size(); ++c) target_row[c] += value * product[c];
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
};

Array<float> to_array(const Tensor& tensor) {
  const Tensor values = tensor.contiguous();
  const float* data = values.data_ptr<float>();
  return std::vector<float>(data, data + values.numel());
}

// Columns turned so that the entry of largest absolute value is positive.
Tensor with_fixed_signs(const Tensor& components) {
  const Tensor largest = components.abs().argmax(0, true);
  return components * components.gather(0, largest).sign();
}

}  // namespace

Reduction fit_pca(const Attributes& matrix, std::span<const int64_t> rows,
                  const PcaOptions& options) {
  const int64_t k = matrix.columns;
  require(options.components >= 1 && options.components <= k, "a reduction to ", options.components,
          " components: there are ", k, " columns");
  require(!rows.empty(), "a reduction to ", options.components,
          " components: there are no training rows to fit it on");
  const Sample sample(matrix, rows);
  const auto n = static_cast<double>(sample.count());
  const Tensor mean = sample.mean();
  const auto covariance_times = [&](const Tensor& v) {
    return (sample.gram_times(v) - n * at::outer(mean, at::mv(v.t(), mean))) / n;
  };
  const int64_t m = std::min(k, options.components + options.oversampling);
  Tensor v = at::empty({k, m}, at::kFloat);
  Random random(options.seed, 0x504341);
  for (int64_t i = 0; i < k * m; ++i) {
    v.data_ptr<float>()[i] = static_cast<float>(random.normal());
  }
  Tensor image;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    v = std::get<0>(at::linalg_qr(v)).contiguous();
    image = covariance_times(v);
    if (iteration + 1 < options.iterations) v = image;
  }
  // Within the subspace the problem is small: vᵀ C v = w diag(variance) wᵀ, ascending.
  const Tensor inner = at::mm(v.t(), image);
  const Tensor w = std::get<1>(at::linalg_eigh((inner + inner.t()) / 2, "L"));
  const Tensor kept = w.flip({1}).narrow(1, 0, options.components);
  return {.mean = to_array(mean),
          .components = to_array(with_fixed_signs(at::mm(v, kept))),
          .names = {}};
}

Attributes reduce(const Attributes& matrix, const Reduction& reduction) {
  require(matrix.columns == reduction.columns(), "a reduction of ", reduction.columns(),
          " columns does not fit ", matrix.columns);
  const int64_t k = reduction.columns();
  const int64_t d = reduction.kept();
  const Tensor components = view(reduction.components.data(), k, d);
  const Tensor shift = at::mv(components.t(), view(reduction.mean.data(), k, 1).squeeze(1));
  if (matrix.layout == Layout::kCoded) {
    Attributes result = matrix;
    const Attributes table = Attributes::dense(matrix.values, matrix.codes(), k);
    result.values = reduce(table, reduction).values;
    result.columns = d;
    return result;
  }
  std::vector<float> values(static_cast<size_t>(matrix.rows * d));
  if (matrix.layout == Layout::kDense) {
    for (int64_t first = 0; first < matrix.rows; first += kBlock) {
      const int64_t rows = std::min(kBlock, matrix.rows - first);
      const Tensor product = at::mm(view(matrix.values.data() + first * k, rows, k), components);
      view(values.data() + first * d, rows, d).copy_(product - shift);
    }
  } else {
    parallel_for(matrix.rows, kBlock, [&](int64_t first, int64_t last) {
      const float* from = shift.data_ptr<float>();
      for (int64_t row = first; row < last; ++row) {
        float* out = values.data() + row * d;
        for (int64_t c = 0; c < d; ++c) out[c] = -from[c];
        matrix.for_each(row, [&](int64_t j, float value) {
          const float* component = reduction.components.data() + j * d;
          for (int64_t c = 0; c < d; ++c) out[c] += value * component[c];
        });
      }
    });
  }
  return Attributes::dense(std::move(values), matrix.rows, d);
}

namespace {

bool is_training(const Graph& graph, int64_t node) {
  return graph.nodes.split.empty() ||
         graph.nodes.split[node] == static_cast<uint8_t>(Split::kTrain);
}

void reduce_part(Attributes& matrix, StringTable& names, Reduction& reduction,
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
  reduce_part(graph.nodes.features, graph.nodes.feature_names, graph.node_reduction, rows, options,
              fitted);
}

void reduce_links(Graph& graph, const PcaOptions& options, const Reduction& fitted) {
  std::vector<int64_t> rows;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int32_t v = graph.neighbor[i];
      // An undirected link counts once, unless its directions have attributes of their own.
      const bool counts = graph.directed || graph.directional || u <= v;
      if (counts && is_training(graph, u) && is_training(graph, v)) rows.push_back(graph.link[i]);
    }
  }
  reduce_part(graph.link_attributes, graph.attribute_names, graph.link_reduction, rows, options,
              fitted);
}

}  // namespace lase
