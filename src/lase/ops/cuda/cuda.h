#pragma once

#include "lase/ops/cpu/cpu.h"
#include "lase/ops/library.h"

// The operators of cpu/cpu.h on NVIDIA GPUs, with the same signatures. They enqueue work on torch's
// current stream. Builds without CUDA have none.cpp instead.
namespace lase::ops::cuda {

// Whether this build has these operators.
bool is_built();

decltype(cpu::gated_sum) gated_sum;
decltype(cpu::gated_change) gated_change;
decltype(cpu::gated_sum_scores) gated_sum_scores;
decltype(cpu::gated_sum_backward) gated_sum_backward;
decltype(cpu::gated_sum_fits) gated_sum_fits;
decltype(cpu::largest_arcs) largest_arcs;
decltype(cpu::arcs_by_target) arcs_by_target;
decltype(cpu::linear) linear;
decltype(cpu::linear_backward) linear_backward;
decltype(cpu::drop) drop;
decltype(cpu::adam_step) adam_step;
decltype(cpu::row_dot) row_dot;
decltype(cpu::row_dot_backward) row_dot_backward;
decltype(cpu::sparse_rows) sparse_rows;

}  // namespace lase::ops::cuda
