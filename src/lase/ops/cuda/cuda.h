#pragma once

#include "lase/ops/cpu/cpu.h"
#include "lase/ops/library.h"

// The operators of cpu/cpu.h on NVIDIA GPUs, with the same signatures. They enqueue work on torch's
// current stream. Builds without CUDA have none.cpp instead.
namespace lase::ops::cuda {

// Whether this build has these operators.
bool is_built();
// Whether the kernels were compiled for this GPU.
bool supports(const at::Device& device);
// The free memory of a GPU.
int64_t free_memory(const at::Device& device);
// The most memory of a GPU that tensors had at a time; 0 on other devices.
int64_t peak_memory(const at::Device& device);
// Of the link kernel.
int64_t most_attributes();

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
decltype(cpu::average_step) average_step;
decltype(cpu::set_numbers) set_numbers;
decltype(cpu::cached_rows) cached_rows;
decltype(cpu::concat_relu) concat_relu;
decltype(cpu::concat_relu_backward) concat_relu_backward;
decltype(cpu::scale_weights) scale_weights;
decltype(cpu::scale_weights_backward) scale_weights_backward;
decltype(cpu::normalize_rows) normalize_rows;
decltype(cpu::normalize_rows_backward) normalize_rows_backward;
decltype(cpu::row_dot) row_dot;
decltype(cpu::row_dot_backward) row_dot_backward;
decltype(cpu::sparse_rows) sparse_rows;

}  // namespace lase::ops::cuda
