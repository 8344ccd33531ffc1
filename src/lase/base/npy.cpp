#include "lase/base/npy.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "lase/base/dtype.h"
#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/parallel.h"

namespace lase {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// The text after `'key':` in the header, a Python dict such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }
std::string_view header_value(std::string_view header, std::string_view key,
                              const std::string& path) {
  const auto at = header.find(join("'", key, "':"));
  require(at != header.npos, path, ": is not a NumPy file: its header has no ", quote(key));
  auto value = header.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

std::optional<DType> dtype_from_descr(std::string_view descr) {
  if (descr == "|b1") return DType::kBool;
  if (descr.size() != 3 || (descr[0] != '<' && descr[0] != '|')) return std::nullopt;
  std::string name(1, descr[1] == 'f' ? 'F' : descr[1] == 'i' ? 'I' : descr[1] == 'u' ? 'U' : '?');
  return dtype_from_name(name + std::to_string((descr[2] - '0') * 8));
}

std::vector<int64_t> parse_shape(std::string_view text, const std::string& path) {
  std::vector<int64_t> shape;
  require(text.starts_with('('), path, ": is not a NumPy file: malformed shape");
  text.remove_prefix(1);
  while (!text.empty() && text[0] != ')') {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    require(error == std::errc() && size >= 0, path, ": is not a NumPy file: malformed shape");
    shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    while (!text.empty() && (text[0] == ',' || text[0] == ' ')) text.remove_prefix(1);
  }
  return shape;
}

}  // namespace

NpyMatrix read_npy(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  require(text.size() >= 12 && text.starts_with(kMagic), path, ": is not a NumPy .npy file");
  const bool long_header = text[6] >= 2;
  uint32_t header_size = 0;
  std::memcpy(&header_size, text.data() + 8, long_header ? 4 : 2);
  const size_t start = (long_header ? 12u : 10u) + size_t{header_size};
  require(start <= text.size(), path, ": is truncated inside its header");
  const auto header = text.substr(long_header ? 12 : 10, header_size);

  auto descr = header_value(header, "descr", path);
  require(descr.starts_with('\''), path, ": has a structured dtype, expected a numeric dtype");
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  const auto type = dtype_from_descr(descr);
  require(type.has_value(), path, ": has dtype ", quote(descr),
          ", expected a little-endian numeric dtype");
  const auto shape = parse_shape(header_value(header, "shape", path), path);
  require(shape.size() == 1 || shape.size() == 2, path, ": has ", shape.size(),
          " dimensions, expected 1 or 2");
  NpyMatrix matrix{.rows = shape[0], .columns = shape.size() == 2 ? shape[1] : 1, .values = {}};
  int64_t count = 0;
  int64_t size = 0;
  const bool fits = !__builtin_mul_overflow(matrix.rows, matrix.columns, &count) &&
                    !__builtin_mul_overflow(count, dtype_size(*type), &size) &&
                    size == static_cast<int64_t>(text.size() - start);
  require(fits, path, ": shape (", matrix.rows, ", ", matrix.columns, ") of dtype ", quote(descr),
          " does not match the ", text.size() - start, " bytes that follow the header");
  constexpr int64_t kMostColumns = 1 << 20;  // otherwise bounded by the size of the file
  require(matrix.rows > 0 || matrix.columns <= kMostColumns, path, ": has ", matrix.columns,
          " columns, but no rows");
  const bool by_column = header_value(header, "fortran_order", path).starts_with("True");

  std::vector<float> values(static_cast<size_t>(count));
  constexpr int64_t kRows = 4096;
  parallel_for(count > 0 ? matrix.rows : 0, kRows, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      for (int64_t column = 0; column < matrix.columns; ++column) {
        const int64_t at = row * matrix.columns + column;
        const int64_t from = by_column ? column * matrix.rows + row : at;
        const double value = element(bytes.data() + start, *type, from);
        require(std::abs(value) <= double{std::numeric_limits<float>::max()}, path, ": row ", row,
                ", column ", column, " is ", value,
                ", expected a finite number that fits in float32");
        values[static_cast<size_t>(at)] = static_cast<float>(value);
      }
    }
  });
  matrix.values = std::move(values);
  return matrix;
}

NpyWriter::NpyWriter(const std::string& path, int64_t rows, int64_t columns) : file_(path) {
  std::string header =
      join("{'descr': '<f4', 'fortran_order': False, 'shape': (", rows, ", ", columns, "), }");
  constexpr size_t kAlignment = 64;
  header.append((kAlignment - (10 + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  const auto size = static_cast<uint16_t>(header.size());
  const std::string start = std::string(kMagic) + std::string("\x01\x00", 2) +
                            static_cast<char>(size & 0xFF) + static_cast<char>(size >> 8);
  file_.write(std::as_bytes(std::span(start)));
  file_.write(std::as_bytes(std::span(header)));
}

void write_npy(const std::string& path, std::span<const float> values, int64_t rows,
               int64_t columns) {
  NpyWriter file(path, rows, columns);
  file.write(values);
  file.commit();
}

}  // namespace lase
