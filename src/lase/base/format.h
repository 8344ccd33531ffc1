#pragma once

#include <cstdint>
#include <string>

namespace lase {

// Numbers as text, independent of the locale.

std::string fixed(double value, int decimals);         // 0.783
std::string signed_fixed(double value, int decimals);  // +0.783 or −0.783, with U+2212
std::string significant(double value, int digits);     // 36.8, 1.5e+06
std::string scientific(double value, int decimals);    // 1.7e-13
std::string grouped(int64_t value);                    // 1,234,567
std::string byte_size(int64_t bytes);                  // 243.0 kB, 1.7 MB
std::string duration(double seconds);                  // 12 s, 3 min

}  // namespace lase
