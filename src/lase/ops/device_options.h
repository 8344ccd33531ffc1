#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lase/base/option_table.h"
#include "lase/kernels/precision.h"

namespace lase {

// kAuto: a GPU if there is one and the graph is large enough to gain from it.
enum class DeviceChoice : uint8_t { kAuto, kCpu, kCuda };

// Where to compute, and how precisely.
struct DeviceOptions {
  DeviceChoice device = DeviceChoice::kAuto;
  Precision precision = Precision::kFp32;
};
const OptionTable<DeviceOptions>& device_option_table();

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<DeviceChoice> = {"auto", "cpu", "cuda"};

}  // namespace lase
