#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <span>
#include <vector>

#include "lase/base/attributes.h"
#include "lase/base/process_group.h"

namespace lase::ops {

// Rows of matrices of which each process has some.
class FetchedRows {
 public:
  // All processes of the group call this, each with the rows that it reads. The group must outlive
  // the object.
  FetchedRows(ProcessGroup& group, std::span<const RowPlace> wanted);

  // The wanted rows [n, …], in their order, from the own rows of each process.
  at::Tensor from(const at::Tensor& own_rows) const;
  Attributes from(const Attributes& own_rows) const;

 private:
  ProcessGroup* group_;
  // By process: how many rows it sends to this one, and the own rows that this one sends to it.
  std::vector<int64_t> received_;
  std::vector<std::vector<int64_t>> given_;
  std::vector<int64_t> order_;  // the place of wanted row i among the rows of all processes
};

}  // namespace lase::ops
