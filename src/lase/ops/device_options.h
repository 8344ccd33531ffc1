#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lase/base/option_table.h"

namespace lase {

// kAuto: a GPU if there is one and the graph is large enough to gain from it.
enum class DeviceChoice : uint8_t { kAuto, kCpu, kCuda };

// kAuto: on a GPU, kBf16 for training and kTf32 for predictions; kFp32 on the CPU.
enum class PrecisionChoice : uint8_t { kAuto, kFp32, kTf32, kBf16 };

// Where to compute, and how precisely.
struct DeviceOptions {
  DeviceChoice device = DeviceChoice::kAuto;
  PrecisionChoice precision = PrecisionChoice::kAuto;
  double memory = 0;  // GiB of a GPU for the graph; 0: half of its free memory
};
const OptionTable<DeviceOptions>& device_option_table();

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<DeviceChoice> = {"auto", "cpu", "cuda"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<PrecisionChoice> = {"auto", "fp32",
                                                                                "tf32", "bf16"};

}  // namespace lase
