// Products with attribute matrices in the three layouts against plain loops.

#include "lase/ops/attribute_product.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

struct Case {
  Layout layout;
  int64_t rows;
  int64_t columns;
  int64_t width;
  std::vector<int64_t> selected;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Layout layout : kLayouts) {
    all.push_back({layout, 7, 5, 3, {6, 0, 0, 2, 5}});
    all.push_back({layout, 7, 1, 1, {3}});
    all.push_back({layout, 4, 3, 2, {}});
    all.push_back({layout, 1, 2, 4, {0, 0, 0}});
  }
  return all;
}

std::string describe(const Case& c) {
  return std::string(layout_name(c.layout)) + ", columns " + std::to_string(c.columns) + ", " +
         std::to_string(c.selected.size()) + " rows selected";
}

TEST(AttributeProduct, MultipliesTheSelectedRowsInEveryLayout) {
  for (const Case& c : cases()) {
    Random random(1, c.rows, c.columns);
    const Attributes matrix = random_attributes(random, c.layout, c.rows, c.columns);
    ops::AttributeTensors f(matrix);
    to_double(f);
    const Tensor u = random_tensor(random, {c.width, c.columns}).requires_grad_(true);
    const Tensor outer = random_tensor(random, {static_cast<int64_t>(c.selected.size()), c.width});
    const Matrix values = to_rows(matrix);
    const Matrix weights = to_rows(u);
    // Σ_i ⟨outer_i, U f_i⟩ has the gradient Σ_i outer_i f_iᵀ.
    const Tensor product = ops::attribute_product(f, index_tensor(c.selected), u);
    ASSERT_EQ(product.sizes(), outer.sizes()) << describe(c);
    Tensor expected = at::zeros_like(outer);
    Tensor gradient = at::zeros({c.width, c.columns}, at::kDouble);
    for (size_t i = 0; i < c.selected.size(); ++i) {
      const Doubles& x = values[static_cast<size_t>(c.selected[i])];
      for (int64_t d = 0; d < c.width; ++d) {
        const double g = outer[static_cast<int64_t>(i)][d].item<double>();
        double sum = 0;
        for (size_t j = 0; j < x.size(); ++j) {
          sum += x[j] * weights[static_cast<size_t>(d)][j];
          gradient[d][static_cast<int64_t>(j)] += g * x[j];
        }
        expected[static_cast<int64_t>(i)][d] = sum;
      }
    }
    expect_close(product, expected, 1e-12, describe(c));
    // If nothing is stored, the product does not depend on U.
    if (product.requires_grad()) (product * outer).sum().backward();
    const Tensor found = u.grad().defined() ? u.grad() : at::zeros_like(gradient);
    expect_close(found, gradient, 1e-12, describe(c));
  }
}

// Dropout zeroes or doubles each entry of a row, independently for every selected row.
TEST(AttributeProduct, DropsEntriesOfTheRows) {
  for (const Layout layout : kLayouts) {
    Random random(3);
    const int64_t columns = 40;
    const Attributes matrix = random_attributes(random, layout, 3, columns);
    const ops::AttributeTensors f(matrix);
    const Tensor identity = at::eye(columns, at::kFloat);
    const Tensor rows = index_tensor({2, 2});
    const ops::Dropout dropout{.rate = 0.5, .key = 9};
    const Tensor dropped = ops::attribute_product(f, rows, identity, dropout);
    const Tensor full = ops::attribute_rows(f, rows);
    EXPECT_TRUE((dropped.eq(0) | dropped.eq(2 * full)).all().item<bool>()) << layout_name(layout);
    EXPECT_FALSE(at::equal(dropped[0], dropped[1])) << layout_name(layout);
    EXPECT_TRUE(dropped.any().item<bool>()) << layout_name(layout);
    EXPECT_TRUE(at::equal(dropped, ops::attribute_product(f, rows, identity, dropout)));
  }
}

TEST(AttributeProduct, GivesRowsAsADenseMatrix) {
  for (const Case& c : cases()) {
    Random random(2, c.rows, c.columns);
    const Attributes matrix = random_attributes(random, c.layout, c.rows, c.columns);
    const ops::AttributeTensors f(matrix);
    const Tensor rows = ops::attribute_rows(f, index_tensor(c.selected));
    ASSERT_EQ(rows.size(0), static_cast<int64_t>(c.selected.size()));
    ASSERT_EQ(rows.size(1), c.columns);
    EXPECT_EQ(rows.scalar_type(), at::kFloat);
    for (size_t i = 0; i < c.selected.size(); ++i) {
      const Floats expected = row(matrix, c.selected[i]);
      EXPECT_EQ(to_doubles(rows[static_cast<int64_t>(i)]),
                Doubles(expected.begin(), expected.end()))
          << describe(c);
    }
  }
}

TEST(AttributeProduct, ReadsRowsWithoutStoredValuesAsZero) {
  Attributes matrix;
  matrix.layout = Layout::kSparse;
  matrix.rows = 3;
  matrix.columns = 2;
  matrix.row_ptr = std::vector<int64_t>{0, 0, 1, 1};
  matrix.column = std::vector<int32_t>{1};
  matrix.values = std::vector<float>{2};
  const ops::AttributeTensors f(matrix);
  const Tensor u = at::ones({1, 2}, at::kFloat);
  const Tensor rows = index_tensor({0, 1, 2, 1, 0});
  EXPECT_EQ(to_doubles(ops::attribute_product(f, rows, u)), (Doubles{0, 2, 0, 2, 0}));
  EXPECT_EQ(to_doubles(ops::attribute_product(f, index_tensor({0, 2}), u)), (Doubles{0, 0}));
  EXPECT_EQ(to_doubles(ops::attribute_rows(f, index_tensor({2, 1}))), (Doubles{0, 0, 0, 2}));
}

TEST(AttributeProduct, KeepsTheMatrixAlive) {
  ops::AttributeTensors f;
  {
    Random random(3);
    f = ops::AttributeTensors(random_attributes(random, Layout::kDictionary, 1000, 50));
  }
  EXPECT_TRUE(f.values.isfinite().all().item<bool>());
  EXPECT_LE(f.values.abs().max().item<float>(), 2);
}

}  // namespace
}  // namespace lase
