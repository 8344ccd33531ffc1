// The functions that are compiled once per instruction set, as a table.
#pragma once

#include "lase/kernels/cpu/code_table.h"
#include "lase/kernels/cpu/link_backward.h"
#include "lase/kernels/cpu/link_forward.h"
#include "lase/kernels/cpu/row_kernels.h"
#include "lase/kernels/cpu/row_product.h"
#include "lase/kernels/cpu/skip_gram.h"

namespace lase::kernels {
namespace {

InstructionSet instructions(const char* name) {
  return {.name = name,
          .lanes = kLanes,
          .column_tile = kColumnTile,
          .forward = forward,
          .backward = backward,
          .tabulate = tabulate,
          .gather_codes = gather_codes,
          .dot_rows = dot_rows,
          .sum_rows = sum_rows,
          .multiply_rows = multiply_rows,
          .skip_gram = skip_gram};
}

}  // namespace
}  // namespace lase::kernels
