#include "lase/ingest/column_roles.h"

#include <algorithm>
#include <cctype>

#include "lase/base/error.h"

namespace lase {
namespace {

// The words of a column name, in lower case: "Contact_Time (s)" has contact, time and s.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : lower_case(name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

enum class Fit : uint8_t { kNone, kWord, kName };

Fit fit_of(std::string_view name, const ColumnRole& role) {
  const auto is_usual = [&](const std::string& text) {
    return std::find(role.usual.begin(), role.usual.end(), text) != role.usual.end();
  };
  if (is_usual(lower_case(name))) return Fit::kName;
  auto words = words_of(name);
  if (role.words == ColumnRole::Words::kFirst && words.size() > 1) words.resize(1);
  if (role.words == ColumnRole::Words::kNone) words.clear();
  return std::any_of(words.begin(), words.end(), is_usual) ? Fit::kWord : Fit::kNone;
}

}  // namespace

std::vector<ColumnRole> link_roles(const LinkTableOptions& options) {
  std::vector<ColumnRole> roles = {
      {.option = "source",
       .named = options.source,
       .usual = {"source", "src", "from", "sender", "payer", "caller", "head", "subject", "u",
                 "id1", "user1", "node1"},
       .words = ColumnRole::Words::kFirst},
      {.option = "target",
       .named = options.target,
       .usual = {"target", "dst", "to", "receiver", "recipient", "payee", "callee", "tail",
                 "object", "v", "id2", "user2", "node2"},
       .words = ColumnRole::Words::kFirst}};
  if (options.nodes.file.empty() && !options.nodes.label.empty()) {
    roles.push_back({.option = "label", .named = options.nodes.label, .required = false});
  }
  return roles;
}

ColumnRole weight_role(const std::string& named) {
  return {.option = "weight",
          .named = named,
          .usual = {"weight", "amount", "count"},
          .required = false,
          .position = 3};
}

ColumnRoles::ColumnRoles(const Table& table, const std::vector<ColumnRole>& roles) : table_(table) {
  for (const auto& role : roles) {
    assigned_.push_back({std::string(role.option), {}, role.shared});
    const bool none = role.position >= 0 && role.named == "none";
    if (role.named.empty() || none) continue;
    assigned_.back().columns = {table.column(role.named, role.option)};
  }
  const auto assign = [&](const auto& find) {
    for (size_t i = 0; i < roles.size(); ++i) {
      if (!roles[i].named.empty() || !assigned_[i].columns.empty()) continue;
      const int64_t column = (this->*find)(roles[i]);
      if (column >= 0) assigned_[i].columns = {column};
    }
  };
  if (table.has_header()) {
    assign(&ColumnRoles::by_name);
    assign_pair(roles);
    for (size_t i = 0; i < roles.size(); ++i) {
      if (roles[i].required && assigned_[i].columns.empty()) guessed_.push_back(i);
    }
  }
  assign(&ColumnRoles::by_position);
}

// Source and target are often a pair such as person_a and person_b, or node1 and node2.
void ColumnRoles::assign_pair(const std::vector<ColumnRole>& roles) {
  const auto find = [&](std::string_view option) {
    const auto found = std::find_if(roles.begin(), roles.end(),
                                    [&](const ColumnRole& role) { return role.option == option; });
    return static_cast<size_t>(found - roles.begin());
  };
  const size_t source = find("source");
  const size_t target = find("target");
  if (std::max(source, target) >= roles.size()) return;
  if (!assigned_[source].columns.empty() || !assigned_[target].columns.empty()) return;
  for (const int64_t first : rest()) {
    const std::string name = lower_case(table_.columns()[static_cast<size_t>(first)]);
    if (name.size() < 2) continue;
    for (const int64_t second : rest()) {
      const std::string other = lower_case(table_.columns()[static_cast<size_t>(second)]);
      const bool same_stem = name.size() == other.size() &&
                             name.compare(0, name.size() - 1, other, 0, name.size() - 1) == 0;
      if (!same_stem) continue;
      const std::string ends = {name.back(), other.back()};
      if (ends != "ab" && ends != "12" && ends != "ij") continue;
      assigned_[source].columns = {first};
      assigned_[target].columns = {second};
      return;
    }
  }
}

std::string ColumnRoles::guesses() const {
  std::string text;
  std::string options;
  for (const size_t i : guessed_) {
    const auto column = static_cast<size_t>(assigned_[i].columns[0]);
    text += join(text.empty() ? "" : ", ", assigned_[i].option, ": ", table_.columns()[column]);
    options += join(options.empty()        ? ""
                    : i == guessed_.back() ? " and "
                                           : ", ",
                    OptionName{assigned_[i].option});
  }
  if (text.empty()) return text;
  return join("columns were taken in their order, because none has a common name (", text,
              "); if that is wrong, set ", options);
}

bool ColumnRoles::claimed(int64_t column) const {
  return std::any_of(assigned_.begin(), assigned_.end(), [&](const Assigned& role) {
    return std::find(role.columns.begin(), role.columns.end(), column) != role.columns.end();
  });
}

bool ColumnRoles::claimed_alone(int64_t column) const {
  return std::any_of(assigned_.begin(), assigned_.end(), [&](const Assigned& role) {
    const auto& columns = role.columns;
    return !role.shared && std::find(columns.begin(), columns.end(), column) != columns.end();
  });
}

bool ColumnRoles::is_row_number(int64_t column) const {
  const auto& name = table_.columns()[static_cast<size_t>(column)];
  return column == 0 && table_.has_header() && (name.empty() || name == "Unnamed: 0");
}

int64_t ColumnRoles::by_name(const ColumnRole& role) const {
  const int64_t column = best_named(role, rest());
  return column < 0 && role.shared ? best_named(role, rest_and_shared()) : column;
}

int64_t ColumnRoles::best_named(const ColumnRole& role, const std::vector<int64_t>& columns) const {
  int64_t best = -1;
  Fit best_fit = Fit::kNone;
  int64_t equal = -1;  // another column that fits as well
  for (const int64_t column : columns) {
    const Fit fit = fit_of(table_.columns()[static_cast<size_t>(column)], role);
    if (fit == Fit::kNone || fit < best_fit) continue;
    equal = fit == best_fit ? column : -1;
    if (equal >= 0) continue;
    best = column;
    best_fit = fit;
  }
  if (equal >= 0) {
    const auto& names = table_.columns();
    fail(table_.path(), ": the columns ", quote(names[static_cast<size_t>(best)]), " and ",
         quote(names[static_cast<size_t>(equal)]), " both fit ", OptionName{role.option},
         "; choose one with ", OptionName{role.option});
  }
  return best;
}

int64_t ColumnRoles::by_position(const ColumnRole& role) const {
  auto free = rest();
  if (role.required) {
    // Without a header, positions count all columns.
    if (role.shared && (free.empty() || !table_.has_header())) free = rest_and_shared();
    require(!free.empty(), table_.path(), ": has ", table_.column_count(),
            table_.column_count() == 1 ? " column" : " columns", ", expected one more for ",
            OptionName{role.option});
    return free[0];
  }
  const bool there = std::find(free.begin(), free.end(), role.position) != free.end();
  return there && !table_.has_header() && table_.column_count() == role.position + 1 ? role.position
                                                                                     : -1;
}

int64_t ColumnRoles::at(std::string_view option) const {
  for (const auto& role : assigned_) {
    if (role.option == option) return role.columns.empty() ? -1 : role.columns[0];
  }
  return -1;
}

std::vector<int64_t> ColumnRoles::all(std::string_view option) const {
  std::vector<int64_t> columns;
  for (const auto& role : assigned_) {
    if (role.option != option) continue;
    columns.insert(columns.end(), role.columns.begin(), role.columns.end());
  }
  return columns;
}

void ColumnRoles::claim(std::string_view option, const std::vector<int64_t>& columns) {
  assigned_.push_back({std::string(option), columns, false});
}

std::vector<int64_t> ColumnRoles::rest() const {
  std::vector<int64_t> free;
  for (int64_t column = 0; column < table_.column_count(); ++column) {
    if (!claimed(column) && !is_row_number(column)) free.push_back(column);
  }
  return free;
}

std::vector<int64_t> ColumnRoles::rest_and_shared() const {
  std::vector<int64_t> free;
  for (int64_t column = 0; column < table_.column_count(); ++column) {
    if (!claimed_alone(column) && !is_row_number(column)) free.push_back(column);
  }
  return free;
}

TableReport ColumnRoles::report() const {
  TableReport report{.file = table_.path(),
                     .delimiter = table_.delimiter_name(),
                     .header = table_.has_header(),
                     .roles = {},
                     .ignored = {}};
  const auto& names = table_.columns();
  for (const auto& role : assigned_) {
    std::vector<std::string> columns;
    for (const int64_t column : role.columns) columns.push_back(names[static_cast<size_t>(column)]);
    if (columns.empty()) continue;
    // A role may have been assigned one column at a time.
    if (!report.roles.empty() && report.roles.back().first == role.option) {
      auto& known = report.roles.back().second;
      known.insert(known.end(), columns.begin(), columns.end());
    } else {
      report.roles.emplace_back(role.option, std::move(columns));
    }
  }
  for (int64_t column = 0; column < table_.column_count(); ++column) {
    if (claimed(column)) continue;
    const auto& name = names[static_cast<size_t>(column)];
    report.ignored.push_back(name.empty() ? "the first column (row numbers)"
                                          : name + table_.why_text(column));
  }
  return report;
}

}  // namespace lase
