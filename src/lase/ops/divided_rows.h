#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lase/base/part.h"
#include "lase/ops/fetched_rows.h"

namespace lase::ops {

// Sends one tensor on the CPU to each of the current processes, and fills `received` with what they
// send. The entries of this process are ignored.
void exchange_tensors(const std::vector<at::Tensor>& sent, const std::vector<at::Tensor>& received);

// The rows of matrices [n, …] that the current processes compute together.
class DividedRows {
 public:
  // Process i computes the rows from bounds[i] to bounds[i + 1]. Without bounds, every process
  // computes all n rows.
  DividedRows(int64_t n, std::vector<int64_t> bounds);
  // Parts of similar size. There are none if there are fewer rows than processes.
  explicit DividedRows(int64_t n);

  int64_t size() const { return bounds_.empty() ? own_.size() : bounds_.back(); }

  const Part& own() const { return own_; }
  // Whether other processes compute some of the rows.
  bool divided() const { return !bounds_.empty(); }
  // Which process computes a row, if they are divided.
  RowPlace place(int64_t row) const;
  // Fills in the rows of the other processes; undefined matrices are left so.
  void complete(const at::Tensor& matrix) const;
  // All rows, from the own ones [own().size(), …].
  at::Tensor all(const at::Tensor& own_rows) const;

 private:
  std::vector<int64_t> bounds_;
  Part own_;
};

// The rows that this process reads of matrices whose rows are divided.
class RequestedRows {
 public:
  // All processes call this, each with the rows that it reads.
  RequestedRows(const DividedRows& divided, std::span<const int64_t> rows);

  // The matrix [n, …] from the own rows. Rows that were not requested are zero.
  at::Tensor from(const at::Tensor& own_rows) const;

 private:
  DividedRows divided_;
  at::Tensor rows_;  // int64: those of other processes
  std::optional<FetchedRows> fetched_;
};

}  // namespace lase::ops
