#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lase/ingest/import.h"

namespace lase {

// Options and reader of one import, type-erased.
class Import {
 public:
  virtual ~Import() = default;
  virtual BoundOptions options() = 0;
  virtual RawGraph read(const Schema* schema) const = 0;
};

// One kind of input: `lase import NAME …`. To add a format, write its file and add a line to
// formats().
struct Format {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<Import>()> make;  // with default options
};

const std::vector<Format>& formats();
// Throws Error if there is no such format.
const Format& format_named(const std::string& name);

}  // namespace lase
