#include "support.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "lase/base/error.h"

namespace lase {

namespace fs = std::filesystem;

FolderTest::FolderTest() {
  std::string pattern = (fs::temp_directory_path() / "lase-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("cannot create a temporary folder");
  folder_ = pattern;
}

FolderTest::~FolderTest() { remove_all(folder_); }

void remove_all(const std::string& path) {
  if (fs::is_directory(fs::symlink_status(path))) {
    Strings inside;
    for (const auto& entry : fs::directory_iterator(path)) inside.push_back(entry.path());
    for (const auto& entry : inside) remove_all(entry);
  }
  fs::remove(path);
}

std::string FolderTest::write(const std::string& name, std::string_view text) const {
  const fs::path file = path(name);
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

std::string FolderTest::write_gz(const std::string& name, std::string_view text) const {
  return write(name, gzip(text));
}

Strings FolderTest::files() const {
  Strings names;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder_).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

MemoryLimit::MemoryLimit(int64_t bytes) {
  std::ifstream in("/proc/self/statm");
  rlim_t pages = 0;  // that count towards RLIMIT_DATA
  for (int field = 0; field < 6; ++field) in >> pages;
  const rlim_t in_use = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(::getrlimit(RLIMIT_DATA, &previous_), 0);
  const rlimit low{.rlim_cur = in_use + static_cast<rlim_t>(bytes), .rlim_max = previous_.rlim_max};
  EXPECT_EQ(::setrlimit(RLIMIT_DATA, &low), 0);
}

MemoryLimit::~MemoryLimit() { ::setrlimit(RLIMIT_DATA, &previous_); }

std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (::deflateInit2(&stream, 6, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("cannot initialize zlib");
  }
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string npy(const std::string& descr, const std::string& shape, std::string_view bytes,
                bool fortran_order) {
  const std::string header = "{'descr': '" + descr +
                             "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                             ", 'shape': " + shape + ", }\n";
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xFF);
  text += static_cast<char>(header.size() >> 8);
  return text + header + std::string(bytes);
}

std::string safetensors(std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  std::string text(8, '\0');
  std::memcpy(text.data(), &length, 8);
  return text + std::string(header) + std::string(data);
}

namespace {

void expect_parts(const std::string& message, std::initializer_list<std::string> parts,
                  const std::source_location& where) {
  const auto line = static_cast<int>(where.line());
  for (const auto& part : parts) {
    if (message.find(part) != message.npos) continue;
    ADD_FAILURE_AT(where.file_name(), line)
        << "\"" << message << "\" does not contain \"" << part << "\"";
  }
}

}  // namespace

void expect_error(const std::function<void()>& call, std::initializer_list<std::string> parts,
                  std::source_location where) {
  const auto line = static_cast<int>(where.line());
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), message.npos) << message;
    expect_parts(message, parts, where);
    return;
  }
  ADD_FAILURE_AT(where.file_name(), line) << "no error, expected one about " << *parts.begin();
}

RawGraph read_format(const std::string& format, const Strings& arguments, const Schema* schema) {
  const auto import = format_named(format).make();
  const BoundOptions options = import->options();
  std::map<std::string, std::string> lists;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool positional = !arguments[i].starts_with("--");
    std::string name = positional ? "" : arguments[i].substr(2);
    std::replace(name.begin(), name.end(), '-', '_');
    const auto option = std::find_if(options.begin(), options.end(), [&](const auto& each) {
      return positional ? each.info.positional : each.info.name == name;
    });
    require(option != options.end(), "unknown option ", quote(arguments[i]));
    if (option->info.kind == OptionKind::kBool) {
      option->set(true);
      continue;
    }
    std::string text = positional ? arguments[i] : arguments.at(++i);
    if (option->info.kind == OptionKind::kTexts) {  // may be repeated
      std::string& list = lists[name];
      text = list += (list.empty() ? "" : ",") + text;
    }
    const auto value = option_from_text(option->info, text);
    require(value.has_value(), name, " ", quote(text), ": invalid value");
    option->set(*value);
  }
  return import->read(schema);
}

BuiltGraph import(const std::string& format, const Strings& arguments, const Schema* schema) {
  return build_graph(read_format(format, arguments, schema));
}

Graph import_graph(const std::string& format, const Strings& arguments, const Schema* schema) {
  return import(format, arguments, schema).graph;
}

Strings texts(const StringTable& table) {
  Strings all;
  for (int64_t i = 0; i < table.size(); ++i) all.emplace_back(table[i]);
  return all;
}

Floats row(const Attributes& matrix, int64_t row) {
  Floats values(static_cast<size_t>(matrix.columns), -1);
  matrix.copy_row(row, values.data());
  return values;
}

int64_t node_of(const Graph& graph, std::string_view name) {
  for (int64_t i = 0; i < graph.nodes.names.size(); ++i) {
    if (graph.nodes.names[i] == name) return i;
  }
  throw std::logic_error("no node " + std::string(name));
}

Strings neighbors(const Graph& graph, std::string_view name) {
  const int64_t u = node_of(graph, name);
  Strings names;
  for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
    names.emplace_back(graph.nodes.names[graph.neighbor[i]]);
  }
  return names;
}

Floats arc(const Graph& graph, std::string_view u, std::string_view v) {
  const int64_t from = node_of(graph, u);
  const int64_t to = node_of(graph, v);
  for (int64_t i = graph.row_ptr[from]; i < graph.row_ptr[from + 1]; ++i) {
    if (graph.neighbor[i] == to) return row(graph.link_attributes, graph.link[i]);
  }
  ADD_FAILURE() << "no arc from " << u << " to " << v;
  return {};
}

namespace {

template <class T>
std::vector<T> copied(const Array<T>& values) {
  return {values.begin(), values.end()};
}

nlohmann::json matrix_contents(const Attributes& matrix) {
  return {{"layout", layout_name(matrix.layout)},
          {"rows", matrix.rows},
          {"columns", matrix.columns},
          {"values", copied(matrix.values)},
          {"row_ptr", copied(matrix.row_ptr)},
          {"column", copied(matrix.column)},
          {"code", copied(matrix.code)}};
}

nlohmann::json reduction_contents(const Reduction& reduction) {
  return {{"mean", copied(reduction.mean)},
          {"components", copied(reduction.components)},
          {"names", texts(reduction.names)}};
}

nlohmann::json labels_contents(const Labels& labels) {
  // As text, because NaN marks unknown targets and does not equal itself.
  Strings targets;
  for (const float value : labels.target) targets.push_back(std::to_string(value));
  return {{"task", task_name(labels.task)},
          {"label", copied(labels.label)},
          {"target", targets},
          {"names", texts(labels.names)}};
}

nlohmann::json targets_contents(const LinkTargets& targets) {
  return {{"source", copied(targets.source)},
          {"target", copied(targets.target)},
          {"attributes", matrix_contents(targets.attributes)},
          {"attribute_names", texts(targets.attribute_names)},
          {"labels", labels_contents(targets.labels)},
          {"split", copied(targets.split)},
          {"relations", targets.relations}};
}

}  // namespace

nlohmann::json contents(const Graph& graph) {
  return {{"row_ptr", copied(graph.row_ptr)},
          {"neighbor", copied(graph.neighbor)},
          {"link", graph.link.visit([](const auto& link) { return nlohmann::json(copied(link)); })},
          {"links", graph.links},
          {"directed", graph.directed},
          {"separate_directions", graph.separate_directions},
          {"names", texts(graph.nodes.names)},
          {"features", matrix_contents(graph.nodes.features)},
          {"feature_names", texts(graph.nodes.feature_names)},
          {"labels", labels_contents(graph.nodes.labels)},
          {"split", copied(graph.nodes.split)},
          {"attributes", matrix_contents(graph.link_attributes)},
          {"attribute_names", texts(graph.attribute_names)},
          {"node_reduction", reduction_contents(graph.node_reduction)},
          {"link_reduction", reduction_contents(graph.link_reduction)},
          {"link_split", copied(graph.link_split)},
          {"targets", targets_contents(graph.targets)},
          {"preprocessing", graph.preprocessing}};
}

nlohmann::json CliResult::json() const {
  const std::string text = out.substr(0, out.find_last_not_of('\n') + 1);
  const auto line = text.rfind('\n');
  return nlohmann::json::parse(line == text.npos ? text : text.substr(line + 1));
}

namespace {

std::string contents_of(std::FILE* file) {
  std::string text;
  std::rewind(file);
  char buffer[4096];
  for (size_t got = 0; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    text.append(buffer, got);
  }
  return text;
}

std::vector<char*> pointers(Strings& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

// Files instead of pipes, so the program never blocks on a full pipe.
RunningCli::RunningCli(const Strings& arguments, const Strings& environment)
    : out_(std::tmpfile()), err_(std::tmpfile()) {
  Strings words = arguments;
  words.insert(words.begin(), LASE_CLI);
  Strings variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out_), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(err_), STDERR_FILENO);
  const int error = ::posix_spawn(&child_, LASE_CLI, &actions, nullptr, pointers(words).data(),
                                  pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " LASE_CLI);
}

RunningCli::~RunningCli() {
  if (child_ != 0) end(SIGKILL);
  std::fclose(out_);
  std::fclose(err_);
}

bool RunningCli::running() {
  if (child_ != 0 && ::waitpid(child_, &status_, WNOHANG) == child_) child_ = 0;
  return child_ != 0;
}

CliResult RunningCli::end(int signal) {
  if (child_ != 0) {
    if (signal != 0) ::kill(child_, signal);
    ::waitpid(child_, &status_, 0);
    child_ = 0;
  }
  CliResult result;
  result.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  result.out = contents_of(out_);
  result.err = contents_of(err_);
  return result;
}

CliResult run_cli(const Strings& arguments, const Strings& environment) {
  return RunningCli(arguments, environment).end();
}

namespace {

void expect_failure(const CliResult& result, int code, std::initializer_list<std::string> parts,
                    std::source_location where) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), result.err);
  EXPECT_EQ(result.code, code);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(result.err.starts_with("lase: "));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
  EXPECT_TRUE(result.err.ends_with('\n'));
  expect_parts(result.err, parts, where);
}

}  // namespace

void expect_rejected(const CliResult& result, std::initializer_list<std::string> parts,
                     std::source_location where) {
  expect_failure(result, 1, parts, where);
}

void expect_bad_usage(const CliResult& result, std::initializer_list<std::string> parts,
                      std::source_location where) {
  expect_failure(result, 2, parts, where);
}

}  // namespace lase
