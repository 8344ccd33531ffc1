#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lase/graph/like.h"
#include "lase/graph/raw_graph.h"
#include "lase/ingest/flags.h"

namespace lase {

// One kind of input: `lase import NAME …`. To add a format, write its file and name it in
// formats().
class Format {
 public:
  virtual ~Format() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  virtual void declare(Flags& flags) = 0;
  // `like` is null, or the graph whose attributes the new one must have.
  virtual RawGraph read(const Like* like) const = 0;
};

std::vector<std::unique_ptr<Format>> formats();

std::unique_ptr<Format> make_links_format();
std::unique_ptr<Format> make_contacts_format();
std::unique_ptr<Format> make_typed_format();
std::unique_ptr<Format> make_sets_format();
std::unique_ptr<Format> make_authors_format();
std::unique_ptr<Format> make_ogb_format();

}  // namespace lase
