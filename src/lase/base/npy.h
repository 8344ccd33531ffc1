#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lase/base/array.h"
#include "lase/base/file.h"

namespace lase {

// A NumPy array of any numeric dtype as float32 [rows, columns] in row-major order. A 1-D array
// becomes a single column.
struct NpyMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  Array<float> values;
};

NpyMatrix read_npy(const std::string& path);

// Writes a matrix [rows, columns] as float32, atomically.
class NpyWriter {
 public:
  NpyWriter(const std::string& path, int64_t rows, int64_t columns);
  void write(std::span<const float> rows) { file_.write(std::as_bytes(rows)); }  // appends
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
};

void write_npy(const std::string& path, std::span<const float> values, int64_t rows,
               int64_t columns);

}  // namespace lase
