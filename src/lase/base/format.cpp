#include "lase/base/format.h"

#include <cmath>
#include <fmt/format.h>
#include <locale>

namespace lase {
namespace {

struct Commas : std::numpunct<char> {
  char do_thousands_sep() const override { return ','; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

std::string fixed(double value, int decimals) { return fmt::format("{:.{}f}", value, decimals); }

std::string signed_fixed(double value, int decimals) {
  return fmt::format("{}{:.{}f}", value < 0 ? "−" : "+", std::abs(value), decimals);
}

std::string significant(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::string scientific(double value, int decimals) {
  return fmt::format("{:.{}e}", value, decimals);
}

std::string grouped(int64_t value) {
  static const std::locale locale(std::locale::classic(), new Commas);
  return fmt::format(locale, "{:L}", value);
}

std::string byte_size(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value < 1e6) return fmt::format("{:.1f} kB", value / 1e3);
  if (value < 1e9) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.1f} GB", value / 1e9);
}

std::string duration(double seconds) {
  return seconds < 100 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

}  // namespace lase
