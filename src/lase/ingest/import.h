#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/option_table.h"
#include "lase/graph/raw_graph.h"
#include "lase/graph/schema.h"

namespace lase {

// Reads graphs from files: one options struct and one function per format.
//
//   LinksOptions options;
//   options.file = "links.csv";
//   options.nodes.file = "people.csv";
//   options.nodes.label = "team";
//   const Graph graph = build_graph(read_links(options)).graph;
//
// Columns are given by name, or by position counting from 1. `schema` is null, or the schema of an
// earlier graph that the new one must follow.

enum class Header : uint8_t { kAuto, kYes, kNo };

struct TableOptions {
  std::string delimiter = {};  // one character, "tab" or "space"; empty: detected
  Header header = Header::kAuto;
  // Missing numbers of attributes and features (empty, NA, NaN, null, -): "mean", "fail" or a
  // value. The mean is that of the training data, and the column NAME_missing tells where it was
  // used.
  std::string missing = "mean";
  // Types of columns that are not as detected: NAME=TYPE, with number, boolean, date, category or
  // ignore.
  std::vector<std::string> types = {};
  // Of strptime, in addition to ISO 8601 and seconds since 1970; empty: as in the earlier graph.
  std::string date_format = {};
  std::string decimal = ".";  // separator of decimals: "." or ","
};

enum class UnknownNodes : uint8_t { kError, kAdd, kDrop };
enum class LabelOf : uint8_t { kSource, kTarget };

struct NodeOptions {
  std::string file;               // empty: the nodes are those in the links
  Header header = Header::kAuto;  // of this file
  std::string delimiter = {};     // as for links
  std::string id;                 // column; empty: "id", or the first
  // Column: one class per node. Without a file, a column of the links, which holds the class of the
  // node `label_of`.
  std::string label;
  LabelOf label_of = LabelOf::kSource;
  std::string multi_label;  // column: several classes per node
  std::string label_separator = ";";
  std::vector<std::string> target;  // columns: regression targets
  std::string split;                // column, or proportions such as 65/15/20
  double validation = 0;  // percentage of the training nodes of a split column; 0: as they are
  std::string text;       // column: encoded as tf-idf
  int64_t text_min_count = 2;
  std::string features;                         // .npy with rows in node order, or a table
  std::string feature_names;                    // file with their names
  std::vector<std::string> columns;             // feature columns or "none"; empty: see NodeReader
  std::vector<std::string> categorical;         // feature columns that hold categories
  UnknownNodes unknown = UnknownNodes::kError;  // link endpoints not in the file
  uint64_t seed = 1;                            // for random splits, also of links

  // All columns named by the options.
  std::vector<std::string> wanted_columns() const;
};

// kAuto: the default of the format.
enum class LayoutChoice : uint8_t { kAuto, kDense, kSparse, kDictionary };

// What decides the split of a link: chance, which keeps all links between two nodes together; its
// time; or its time, where only links between nodes that no earlier split links are targets.
enum class LinkSplitBy : uint8_t { kRandom, kTime, kFirstTime };

// Rows of a table of links as prediction targets; see LinkTargets. Links are not targets unless one
// of the first four is given, or the earlier graph has them.
struct LinkTargetOptions {
  std::string label;                 // column: one class per row
  std::string multi_label;           // column: several classes, separated as those of nodes
  std::vector<std::string> regress;  // columns with numbers
  std::string split;                 // column, or proportions such as 80/10/10
  LinkSplitBy split_by = LinkSplitBy::kRandom;
  std::string time;  // column; empty: that of the format, if it has one
};

// A table with one link per row.
struct LinkTableOptions {
  std::string file;
  std::string source;  // columns; empty: the usual names, or the first two
  std::string target;
  TableOptions table;
  NodeOptions nodes;
  LinkTargetOptions targets;
  LinkRules rules;
  LayoutChoice layout = LayoutChoice::kAuto;
};

enum class SlicesBy : uint8_t { kSpan, kHour, kWeekday, kAge };
enum class Slicing : uint8_t { kWidth, kQuantile };
struct SliceOptions {
  int64_t slices = 0;  // 0: 32, or the number of hours or weekdays
  SlicesBy by = SlicesBy::kSpan;
  Slicing slicing = Slicing::kWidth;
  Transform counts = Transform::kLog1p;

  bool operator==(const SliceOptions&) const = default;
};

// Links with attribute columns: source, target, then numbers or categories. With times, rows are
// events such as transactions: see read_links() for the attributes of their links.
struct LinksOptions : LinkTableOptions {
  std::vector<std::string> attributes;  // columns or "none"; empty: all but source and target
  std::vector<std::string> categorical;
  std::string time;  // column; empty: none, or as in the earlier graph
  SliceOptions slices;
};
// The attributes of links with times T, numbers X and categories C are, in this order,
//
//   count               number of rows
//   T_first, T_last     if slices are by span, time since the first row, otherwise before the
//                       latest row, as a fraction of the span
//   X_sum, X_mean, X_max
//   X_missing, C=value  number of rows
//   slice i             number of rows in the time slice
//   X slice i           sum in the time slice
RawGraph read_links(const LinksOptions& options, const Schema* schema = nullptr);

// Contacts over time: source, target, time; each link counts its contacts per time slice.
struct ContactsOptions : LinkTableOptions {
  std::string time;    // column; empty: a usual name, or the third
  std::string weight;  // column; empty: "weight", the fourth if no header, or 1
  SliceOptions slices;
};
RawGraph read_contacts(const ContactsOptions& options, const Schema* schema = nullptr);

// Links of several relations: source, target, relation; a link has one weight per relation.
struct TypedOptions : LinkTableOptions {
  std::string relation;   // column; empty: a usual name, or the third
  std::string weight;     // column; empty: "weight", the fourth if no header, or 1
  std::string relations;  // file that lists the relations
};
RawGraph read_typed(const TypedOptions& options, const Schema* schema = nullptr);

// Items with members (papers and their authors, baskets and products): items that share members are
// linked, and the shared members are the link attributes.
enum class SetAttributes : uint8_t { kMembers, kCounts, kBoth };
struct SetsOptions {
  std::string file;
  std::string members;  // column
  std::string separator = ";";
  bool fold_case = false;
  int64_t max_members = 1000;  // ignore members of more items than this; 0: no limit
  SetAttributes attributes = SetAttributes::kMembers;
  TableOptions table;
  NodeOptions nodes;  // the items; without an id column, numbered from 0
};
RawGraph read_sets(const SetsOptions& options, const Schema* schema = nullptr);

// The data files published by the paper's authors.
struct AuthorsOptions {
  std::string prefix;  // of PREFIX-G.json and the files next to it
};
RawGraph read_authors(const AuthorsOptions& options, const Schema* schema = nullptr);

// OGB's raw layout of a node property data set.
enum class OgbTask : uint8_t { kAuto, kSingleLabel, kMultiLabel, kRegression };
struct OgbOptions {
  std::string folder;  // with raw/ and split/
  OgbTask task = OgbTask::kAuto;
  std::string split_name;  // folder under split/; empty: the only one
  LinkRules rules;
  LayoutChoice layout = LayoutChoice::kAuto;
};
RawGraph read_ogb(const OgbOptions& options, const Schema* schema = nullptr);

// The layout of the Heterogeneous Graph Benchmark: typed nodes and links. Node features are the
// type of a node and the features of its type.
struct HgbOptions {
  std::string folder;      // with node.dat, link.dat, label.dat and label.dat.test
  double validation = 20;  // percentage of the nodes in label.dat
  uint64_t seed = 1;       // for the choice of validation nodes
  LinkRules rules;
  LayoutChoice layout = LayoutChoice::kAuto;
};
RawGraph read_hgb(const HgbOptions& options, const Schema* schema = nullptr);

const OptionTable<TableOptions>& table_option_table();
const OptionTable<SliceOptions>& slice_option_table();
const OptionTable<LinksOptions>& links_option_table();
const OptionTable<ContactsOptions>& contacts_option_table();
const OptionTable<TypedOptions>& typed_option_table();
const OptionTable<SetsOptions>& sets_option_table();
const OptionTable<AuthorsOptions>& authors_option_table();
const OptionTable<OgbOptions>& ogb_option_table();
const OptionTable<HgbOptions>& hgb_option_table();

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Header> = {"auto", "yes", "no"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<UnknownNodes> = {"error", "add",
                                                                             "drop"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<LayoutChoice> = {
    "auto", "dense", "sparse", "dictionary"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Parallel> = {"merge", "keep", "error"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<SelfLoops> = {"drop", "keep", "error"};
template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<Merge> = {"sum", "mean", "max", "first",
                                                                      "min"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Transform> = {"none", "log1p",
                                                                          "binary"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<LinkSplitBy> = {"random", "time",
                                                                            "first_time"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<LabelOf> = {"source", "target"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<SlicesBy> = {"span", "hour", "weekday",
                                                                         "age"};
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Slicing> = {"width", "quantile"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<SetAttributes> = {"members", "counts",
                                                                              "both"};
template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<OgbTask> = {
    "auto", "single-label", "multi-label", "regression"};

}  // namespace lase
