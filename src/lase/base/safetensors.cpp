#include "lase/base/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "lase/base/error.h"
#include "lase/base/json.h"

namespace lase {
namespace {

using nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr int64_t kLongestHeader = 100'000'000;  // as in the reference implementation

// Product of the sizes, or nothing where it does not fit.
std::optional<int64_t> element_count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i == 0 ? "" : ", ";
    text += shape[i] < 0 ? "any" : std::to_string(shape[i]);
  }
  return text + "]";
}

// Parses the header without recursion limits being a matter of luck: nlohmann's parser keeps its
// own stack, and a repeated name is refused, since json would keep one of the two silently.
json parse_header(std::string_view text, const std::string& path) {
  std::vector<std::set<std::string>> open_objects;
  const auto refuse_repeated = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == json::parse_event_t::object_end) open_objects.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      require(open_objects.back().insert(key).second, path, ": the header names ", quote(key),
              " twice");
    }
    return true;
  };
  // Objects and arrays nest three deep at most in a true header.
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      require(++depth <= 8, path, ": the header is nested too deeply for a safetensors file");
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  try {
    return json::parse(text, refuse_repeated);
  } catch (const json::exception&) {
    fail(path, ": the header is not valid JSON; this is not a safetensors file, or it is damaged");
  }
}

struct HeaderTensor {
  DType type;
  std::vector<int64_t> shape;
  int64_t begin;
  int64_t end;
};

std::vector<int64_t> integers(const json& list, const std::string& path, const std::string& name) {
  require(list.is_array(), path, ": the header entry of ", quote(name), " is malformed");
  std::vector<int64_t> values;
  for (const auto& item : list) {
    const auto value = natural_number(item);
    require(value.has_value(), path, ": the header entry of ", quote(name),
            " has a size or offset that is no natural number");
    values.push_back(*value);
  }
  return values;
}

HeaderTensor parse_tensor(const json& entry, const std::string& path, const std::string& name) {
  const bool well_formed = entry.is_object() && entry.contains("dtype") &&
                           entry["dtype"].is_string() && entry.contains("shape") &&
                           entry.contains("data_offsets");
  require(well_formed, path, ": the header entry of ", quote(name), " is malformed");
  const auto type = dtype_from_name(entry["dtype"].get<std::string>());
  require(type.has_value(), path, ": ", quote(name), " has the unknown element type ",
          quote(entry["dtype"].get<std::string>()));
  auto shape = integers(entry["shape"], path, name);
  const auto offsets = integers(entry["data_offsets"], path, name);
  require(offsets.size() == 2 && offsets[0] <= offsets[1], path, ": ", quote(name),
          " has malformed data offsets");
  const auto count = element_count(shape);
  int64_t bytes = 0;
  const bool agrees = count && !__builtin_mul_overflow(*count, dtype_size(*type), &bytes) &&
                      bytes == offsets[1] - offsets[0];
  require(agrees, path, ": the shape ", shape_text(shape), " of ", quote(name),
          " does not agree with its ", offsets[1] - offsets[0], " bytes");
  return {*type, std::move(shape), offsets[0], offsets[1]};
}

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  return parse(bytes, path, std::move(file));
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> bytes, const std::string& path,
                                       std::shared_ptr<const void> owner) {
  const auto file_size = static_cast<int64_t>(bytes.size());
  require(file_size >= 8, path, ": is too short for a safetensors file (", file_size, " bytes)");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  require(length <= uint64_t{kLongestHeader} && static_cast<int64_t>(length) <= file_size - 8, path,
          ": is not a safetensors file, or it is cut short (header of ", length,
          " bytes in a file of ", file_size, ")");
  const auto header_size = static_cast<int64_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  const json header = parse_header(text, path);
  require(header.is_object(), path, ": the header is not a JSON object");

  SafetensorsFile file;
  file.path_ = path;
  file.owner_ = std::move(owner);
  const auto data = bytes.subspan(8 + static_cast<size_t>(header_size));
  const auto data_size = static_cast<int64_t>(data.size());
  std::vector<std::pair<int64_t, int64_t>> extents;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      require(entry.is_object(), path, ": the metadata are not a JSON object");
      for (const auto& [key, value] : entry.items()) {
        require(value.is_string(), path, ": the metadata entry ", quote(key), " is no text");
        file.metadata_.emplace(key, value.get<std::string>());
      }
      continue;
    }
    auto tensor = parse_tensor(entry, path, name);
    require(tensor.end <= data_size, path, ": is cut short: ", quote(name), " ends at byte ",
            tensor.end, " of the data, which has ", data_size);
    extents.emplace_back(tensor.begin, tensor.end);
    const auto part = data.subspan(static_cast<size_t>(tensor.begin),
                                   static_cast<size_t>(tensor.end - tensor.begin));
    file.tensors_.emplace(name, Tensor{tensor.type, std::move(tensor.shape), part});
  }
  std::sort(extents.begin(), extents.end());
  int64_t end = 0;
  for (const auto& [begin, next_end] : extents) {
    require(begin == end, path, ": the arrays in the header overlap or leave a gap at byte ", end);
    end = next_end;
  }
  require(end == data_size, path, ": the header describes ", end, " bytes of data, the file has ",
          data_size);
  return file;
}

const SafetensorsFile::Tensor& SafetensorsFile::checked(const std::string& name, DType type,
                                                        std::span<const int64_t> shape) const {
  const auto found = tensors_.find(name);
  require(found != tensors_.end(), path_, ": the array ", quote(name), " is missing");
  const Tensor& tensor = found->second;
  require(tensor.type == type, path_, ": the array ", quote(name), " has elements ",
          dtype_name(tensor.type), ", expected ", dtype_name(type));
  bool fits = tensor.shape.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] < 0 || shape[i] == tensor.shape[i];
  }
  require(fits, path_, ": the array ", quote(name), " has the shape ", shape_text(tensor.shape),
          ", expected ", shape_text(shape));
  const auto address = reinterpret_cast<uintptr_t>(tensor.bytes.data());
  require(tensor.bytes.empty() || address % static_cast<uintptr_t>(dtype_size(type)) == 0, path_,
          ": the array ", quote(name), " does not start at a multiple of its element size");
  return tensor;
}

SafetensorsWriter::Id SafetensorsWriter::declare(std::string name, DType type,
                                                 std::vector<int64_t> shape) {
  const auto count = element_count(shape);
  int64_t size = 0;
  require(count && !__builtin_mul_overflow(*count, dtype_size(type), &size), file_.path(), ": ",
          quote(name), " of shape ", shape_text(shape), " is too large");
  entries_.push_back({std::move(name), type, std::move(shape), size, 0});
  return entries_.size() - 1;
}

void SafetensorsWriter::begin(const std::map<std::string, std::string>& metadata) {
  // Wide elements first: then each array starts at a multiple of its element size without gaps.
  std::vector<Id> order(entries_.size());
  std::iota(order.begin(), order.end(), Id{0});
  std::stable_sort(order.begin(), order.end(), [&](Id a, Id b) {
    return dtype_size(entries_[a].type) > dtype_size(entries_[b].type);
  });
  json header;
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  int64_t end = 0;
  for (const Id id : order) {
    Entry& entry = entries_[id];
    entry.offset = end;
    end += entry.size;
    header[entry.name] = {{"dtype", dtype_name(entry.type)},
                          {"shape", entry.shape},
                          {"data_offsets", {entry.offset, end}}};
  }
  // Names and metadata may hold bytes that are not UTF-8; JSON cannot.
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  constexpr size_t kAlignment = 64;
  text.append((kAlignment - (8 + text.size()) % kAlignment) % kAlignment, ' ');
  require(static_cast<int64_t>(text.size()) <= kLongestHeader, file_.path(),
          ": the header would be longer than safetensors allows");
  data_start_ = 8 + static_cast<int64_t>(text.size());
  file_.reserve(data_start_ + end);
  const uint64_t length = text.size();
  file_.write(std::as_bytes(std::span(&length, 1)));
  file_.write(std::as_bytes(std::span(text)));
}

void SafetensorsWriter::write_bytes(Id id, int64_t offset, std::span<const std::byte> bytes) {
  file_.write_at(data_start_ + entries_[id].offset + offset, bytes);
}

}  // namespace lase
