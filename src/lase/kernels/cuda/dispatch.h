// Template arguments from values.
#pragma once

#include <type_traits>

#include "lase/kernels/precision.h"

namespace lase::kernels::cuda {

template <auto value>
using Constant = std::integral_constant<decltype(value), value>;

// Calls run(precision) with a constant.
template <class Run>
void with_precision(Precision precision, const Run& run) {
  switch (precision) {
    case Precision::kFp32:
      return run(Constant<Precision::kFp32>());
    case Precision::kTf32:
      return run(Constant<Precision::kTf32>());
    case Precision::kBf16:
      return run(Constant<Precision::kBf16>());
  }
}

}  // namespace lase::kernels::cuda
