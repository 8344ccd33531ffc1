#pragma once

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <cstdint>
#include <functional>
#include <limits>
#include <source_location>
#include <string>
#include <vector>

#include "lase/base/random.h"
#include "lase/graph/graph.h"
#include "lase/model/inputs.h"
#include "lase/model/model.h"
#include "lase/model/model_file.h"
#include "lase/ops/attribute_product.h"

#include "support.h"

namespace lase {

using Doubles = std::vector<double>;
using Matrix = std::vector<Doubles>;

inline constexpr Layout kLayouts[] = {Layout::kDense, Layout::kSparse, Layout::kDictionary};

// Standard normal random numbers, in double.
at::Tensor random_tensor(Random& random, const std::vector<int64_t>& shape);

at::Tensor random_floats(Random& random, const std::vector<int64_t>& shape);  // the same in float

// Values in multiples of 1/8; sparse: about half of them zero; dictionary: two rows per code.
Attributes random_attributes(Random& random, Layout layout, int64_t rows, int64_t columns);

struct ToyOptions {
  int64_t nodes = 12;
  int64_t links = 24;  // before merging parallel links
  int64_t features = 4;
  int64_t attributes = 3;
  int64_t labels = 3;
  Layout layout = Layout::kDense;          // of the links
  Layout feature_layout = Layout::kDense;  // of the nodes
  bool directed = false;
  bool split = false;
  uint64_t seed = 1;
};

// A random graph with single labels. The last node has no link.
Graph toy_graph(const ToyOptions& options);

// −1 and NaN stand for unknown labels.
inline constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
Labels single_labels(std::vector<int32_t> label, int64_t classes);
Labels target_labels(Task task, Floats target, int64_t columns);

// Conversions between tensors and plain vectors.
Matrix to_rows(const Attributes& matrix);
Matrix to_rows(const at::Tensor& tensor);  // [n, m], any type
Doubles to_doubles(const at::Tensor& tensor);
at::Tensor to_tensor(const Matrix& rows);  // double
at::Tensor index_tensor(const std::vector<int64_t>& values);

// Converts to double precision, in place.
void to_double(ops::AttributeTensors& f);
void to_double(Parameters& parameters);
void to_double(Batch& batch);
// Inputs of a model in double precision; node features must be dense or dictionary-encoded.
Inputs double_inputs(const Graph& graph, const Scaling& scaling);
// Mean 0 and scale 1.
Scaling no_scaling(const Graph& graph);

// An untrained model with two layers of width 4 for this graph, with three outputs.
Model toy_model(const Graph& graph, const std::string& name);

// Writes model files.
class SavedModelTest : public FolderTest {
 protected:
  // Saves a model with another text in its description, and without checksums.
  std::string saved_with(const TrainedModel& trained, const std::string& text,
                         std::string by) const;
};

// A batch of whole neighborhoods for these seed nodes.
Batch whole_batch(const Graph& graph, const std::vector<int64_t>& seeds, int64_t layers);
std::vector<int64_t> all_nodes(const Graph& graph);

// Expects equal shapes and entries that differ by at most `tolerance` (1 + |expected|).
void expect_close(const at::Tensor& found, const at::Tensor& expected, double tolerance,
                  const std::string& what,
                  std::source_location where = std::source_location::current());
void expect_same_bits(const at::Tensor& found, const at::Tensor& expected, const std::string& what,
                      std::source_location where = std::source_location::current());
void expect_same_weights(const Model& found, const Model& expected,
                         std::source_location where = std::source_location::current());

// Checks the gradient of f, a scalar in double, against central differences in every entry of x.
void expect_gradient(const std::function<at::Tensor()>& f, const at::Tensor& x,
                     const std::string& what, double tolerance = 1e-7,
                     std::source_location where = std::source_location::current());

}  // namespace lase
