#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lase/graph/raw_graph.h"
#include "lase/ingest/import.h"
#include "lase/ingest/table.h"

namespace lase {

// A column that a table is expected to have.
struct ColumnRole {
  std::string_view option;              // names the column: "source"
  std::string named;                    // by the user; empty: found by name or by position
  std::vector<std::string> usual = {};  // names, in lower case
  // Also a column with one of these words in its name, such as "contact_time" or "from_account".
  enum class Words : uint8_t { kNone, kFirst, kAny } words = Words::kNone;
  // By default, a required role takes the first column that is left, and an optional one none.
  bool required = true;
  // An optional role takes this column, counting from 0, of a table without a header, unless the
  // user names the column "none".
  int64_t position = -1;
  // Shared roles may have the same column: the relation of a link may be its label.
  bool shared = false;
};

// Source and target and, if the labels of nodes are in the table of links, the label.
std::vector<ColumnRole> link_roles(const LinkTableOptions& options);
ColumnRole weight_role(const std::string& named);

// Assigns columns to roles: those that the user named, then those with usual names, then by
// position. Throws Error if the names of two columns fit a role equally well.
class ColumnRoles {
 public:
  ColumnRoles(const Table& table, const std::vector<ColumnRole>& roles);

  // The column of a role; −1 if it is optional and absent.
  int64_t at(std::string_view option) const;
  // All columns of a role that may have several.
  std::vector<int64_t> all(std::string_view option) const;
  // Takes columns for another role.
  void claim(std::string_view option, const std::vector<int64_t>& columns);
  // The columns without a role, except row numbers: a first column without a name, as pandas and R
  // write it.
  std::vector<int64_t> rest() const;
  // Which required columns of a table with a header were taken by their order, and what to do if
  // that is wrong; empty: none.
  std::string guesses() const;
  // What was read, with all columns that have no role as ignored.
  TableReport report() const;

 private:
  struct Assigned {
    std::string option;
    std::vector<int64_t> columns;
    bool shared = false;
  };

  int64_t by_name(const ColumnRole& role) const;
  int64_t best_named(const ColumnRole& role, const std::vector<int64_t>& columns) const;
  int64_t by_position(const ColumnRole& role) const;
  void assign_pair(const std::vector<ColumnRole>& roles);
  bool claimed(int64_t column) const;
  bool claimed_alone(int64_t column) const;      // by a role that does not share it
  std::vector<int64_t> rest_and_shared() const;  // the columns that shared roles may take
  bool is_row_number(int64_t column) const;

  const Table& table_;
  std::vector<Assigned> assigned_;
  std::vector<size_t> guessed_;  // roles
};

}  // namespace lase
