#include "lase/base/lase_file.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "lase/base/error.h"

namespace lase {
namespace {

using nlohmann::json;

constexpr std::array kKinds = {kGraphFile, kPartitionFile, kPartFile, kModelFile, kCheckpointFile};

constexpr int64_t kSmallArray = 1 << 20;  // bytes; cheap enough to verify whenever a file is opened

std::string format_of(const FileKind& kind) { return join("lase.", kind.name); }

std::string text_at(const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

// What a file that is not a safetensors file seems to be; empty: unknown.
std::string_view guess_content(std::span<const std::byte> bytes) {
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min<size_t>(bytes.size(), 4096));
  if (start.starts_with("\x1f\x8b")) return "gzip";
  if (start.starts_with("PK\x03\x04")) return "a zip archive";
  if (start.starts_with("\x93NUMPY")) return "a NumPy array";
  const bool text = !start.empty() && std::all_of(start.begin(), start.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || std::isspace(static_cast<unsigned char>(c)) != 0;
  });
  if (!text) return "";
  if (start.front() == '{' || start.front() == '[') return "JSON";
  return start.find_first_of(",;\t") == start.npos ? "text" : "CSV";
}

bool has_tables(std::string_view content) {
  return content == "CSV" || content == "text" || content == "gzip";
}

// Throws Error if the bytes cannot be a safetensors file. `expected`: "graph", or "file".
void check_content(const MappedFile& file, std::string_view expected) {
  const auto bytes = file.bytes();
  if (SafetensorsFile::is_safetensors(bytes)) return;
  const auto content = guess_content(bytes);
  if (content.empty()) return;  // the parser explains what is wrong
  const bool import = expected == kGraphFile.name && has_tables(content);
  fail(file.path(), ": is not a lase ", expected, "; it looks like ", content,
       import ? ": run `lase import` first" : "");
}

const FileKind* find_kind(const SafetensorsFile& file) {
  const std::string format = text_at(file.metadata(), "format");
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const FileKind& kind) { return format_of(kind) == format; });
  return found == kKinds.end() ? nullptr : found;
}

// Copying and comparing JSON values is recursive, so that deep nesting would overflow the stack.
bool nests_deeply(std::string_view text) {
  constexpr int kMost = 100;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size() && depth <= kMost; ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++i;
    if (in_string) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
  }
  return depth > kMost;
}

}  // namespace

SafetensorsFile open_lase_file(const std::string& path, const FileKind& kind) {
  auto mapped = MappedFile::open(path);
  check_content(*mapped, kind.name);
  const auto bytes = mapped->bytes();
  SafetensorsFile file = SafetensorsFile::parse(bytes, path, std::move(mapped));
  const FileKind* found = find_kind(file);
  require(found != nullptr, path, ": is a safetensors file, but not a lase ", kind.name);
  require(found->name == kind.name, path, ": is a lase ", found->name, ", not a ", kind.name);
  const std::string version = text_at(file.metadata(), "version");
  require(version == std::to_string(kind.version), path, ": has ", kind.name, " file version ",
          quote(version), ", this version of lase reads version ", kind.version, "; ", kind.remedy);
  file.verify(kSmallArray);
  return file;
}

FileKind kind_of_file(const std::string& path) {
  const auto mapped = MappedFile::open(path);
  check_content(*mapped, "file");
  const FileKind* found = find_kind(SafetensorsFile::parse(mapped->bytes(), path));
  require(found != nullptr, path, ": is a safetensors file, but not a lase file");
  return *found;
}

json file_description(const SafetensorsFile& file, const FileKind& kind) {
  const std::string text = text_at(file.metadata(), std::string(kind.name));
  require(!text.empty(), file.path(), ": the ", kind.name, " metadata is missing");
  require(!nests_deeply(text), file.path(), ": the ", kind.name, " metadata is nested too deeply");
  json description = json::parse(text, nullptr, false);
  require(description.is_object(), file.path(), ": the ", kind.name,
          " metadata is not a JSON object");
  return description;
}

Metadata file_metadata(const FileKind& kind, const json& description) {
  return {
      {"format", format_of(kind)},
      {"version", std::to_string(kind.version)},
      {std::string(kind.name), description.dump(-1, ' ', false, json::error_handler_t::replace)}};
}

}  // namespace lase
