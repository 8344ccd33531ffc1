#include <algorithm>
#include <cmath>

#include "lase/base/format.h"

#include "report/svg.h"

// Number formatting, ticks and axes.
namespace lase::svg {
namespace {

// Replaces hyphens before numbers and exponents by minus signs; zero gets no sign.
std::string with_minus(std::string text) {
  if (text.find_first_not_of("-0.") == std::string::npos) std::erase(text, '-');
  if (const auto plus = text.find("e+"); plus != std::string::npos) text.erase(plus + 1, 1);
  for (const std::string_view zero : {"e0", "e-0"}) {
    if (const auto at = text.find(zero); at != std::string::npos)
      text.erase(at + zero.size() - 1, 1);
  }
  for (auto at = text.find('-'); at != std::string::npos; at = text.find('-', at)) {
    text.replace(at, 1, "−");
  }
  return text;
}

struct Unit {
  double size = 1;
  std::string_view suffix = {};
};

Unit unit_of(double value) {
  if (std::abs(value) < 1e4 || std::abs(value) >= 1e15) return {};
  if (std::abs(value) >= 1e12) return {.size = 1e12, .suffix = "T"};
  if (std::abs(value) >= 1e9) return {.size = 1e9, .suffix = "G"};
  if (std::abs(value) >= 1e6) return {.size = 1e6, .suffix = "M"};
  return {.size = 1e3, .suffix = "k"};
}

// Label of a tick that is a multiple of `step`, on an axis with values up to `largest`.
std::string tick_text(double value, double step, double largest) {
  if (largest < 1e-3 || largest >= 1e15) return value == 0 ? "0" : short_number(value);
  const Unit unit = unit_of(largest);
  const double places = -std::floor(std::log10(step / unit.size) + 1e-9);
  if (value == 0) return "0";
  return fixed(value / unit.size, static_cast<int>(std::clamp(places, 0., 12.)))
      .append(unit.suffix);
}

}  // namespace

std::string fixed(double value, int decimals) { return with_minus(lase::fixed(value, decimals)); }

std::string short_number(double value) {
  const Unit unit = unit_of(value);
  // Twelve digits hide rounding errors.
  return with_minus(significant(value / unit.size, 12)).append(unit.suffix);
}

std::string length(double value) {
  std::string text = lase::fixed(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::vector<Tick> nice_ticks(double low, double high, int64_t most) {
  if (!(low < high)) return {{.value = low, .text = short_number(low)}};
  const double rough = (high - low) / static_cast<double>(std::max<int64_t>(1, most));
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1., 2., 5.}) {
    if (factor * power >= 0.75 * rough) {
      step = factor * power;
      break;
    }
  }
  const double largest = std::max(std::abs(low), std::abs(high));
  std::vector<Tick> ticks;
  for (double k = std::ceil(low / step - 1e-9); k <= std::floor(high / step + 1e-9); ++k) {
    ticks.push_back({.value = k * step, .text = tick_text(k * step, step, largest)});
    if (k + 1 == k) break;  // the range is too narrow for double precision
  }
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int64_t most) {
  const auto first = static_cast<int>(std::floor(std::log10(low) + 1e-9));
  const auto last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const auto collect = [&](std::initializer_list<double> factors, int every) {
    std::vector<Tick> ticks;
    for (int power = first; power <= last; ++power) {
      for (const double factor : factors) {
        const double value = factor * std::pow(10.0, power);
        if (power % every != 0 || value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
        ticks.push_back({.value = value, .text = short_number(value)});
      }
    }
    return ticks;
  };
  std::vector<Tick> ticks = collect({1, 2, 5}, 1);
  const auto too_many = [&] {
    return static_cast<int64_t>(ticks.size()) > std::max<int64_t>(2, most);
  };
  for (int every = 1; too_many() && every <= last - first + 1; ++every) ticks = collect({1}, every);
  return ticks.size() >= 2 ? ticks : nice_ticks(low, high, most);
}

double Axis::at(double value) const {
  const auto scaled = [&](double x) { return log ? std::log10(x) : x; };
  const double share = (scaled(value) - scaled(low)) / (scaled(high) - scaled(low));
  return from + (to - from) * share;
}

}  // namespace lase::svg
