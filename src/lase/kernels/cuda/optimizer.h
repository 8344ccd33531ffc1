#pragma once

#include <cstdint>
#include <span>

#include "lase/kernels/cuda/kernels.h"

// Updates of all weights of a model by a single kernel, unless there are many. T is float or
// double.
namespace lase::kernels::cuda {

// See kernels::adam_step.
template <class T>
struct AdamArrays {
  T* w;
  const T* g;
  T* m;
  T* v;
  int64_t n;
};
struct AdamNumbers {
  double weight_decay = 0;
  double clip = 0;
  const double* factors = nullptr;  // on the device: rate, correct2 of AdamStep
};
template <class T>
void adam_step(std::span<const AdamArrays<T>> all, const AdamNumbers& numbers,
               const Launch& launch);

// average ← decay · average + (1 − decay) w, with `decay` on the device.
template <class T>
struct AverageArrays {
  T* average;
  const T* w;
  int64_t n;
};
template <class T>
void average_step(std::span<const AverageArrays<T>> all, const double* decay, const Launch& launch);

// Writes up to 8 values, which are passed with the launch, to the device.
void set_numbers(std::span<const int64_t> values, int64_t* out, const Launch& launch);

}  // namespace lase::kernels::cuda
