#include "lase/base/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/safetensors_header.h"

namespace lase {
namespace {

constexpr int64_t kLongestHeader = 100'000'000;  // as in the reference implementation

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
          ": is not a safetensors file, or it is truncated (header of ", length,
          " bytes in a file of ", file_size, ")");
  const auto header_size = static_cast<int64_t>(length);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, length);
  SafetensorsHeader header = parse_safetensors_header(text, path);

  SafetensorsFile file;
  file.path_ = path;
  file.owner_ = std::move(owner);
  file.metadata_ = std::move(header.metadata);
  const auto data = bytes.subspan(8 + static_cast<size_t>(header_size));
  const auto data_size = static_cast<int64_t>(data.size());
  std::vector<std::pair<int64_t, int64_t>> extents;
  for (auto& [name, entry] : header.entries) {
    require(entry.end <= data_size, path, ": is truncated: ", quote(name), " ends at byte ",
            entry.end, ", but the file has ", data_size, " bytes of data");
    extents.emplace_back(entry.begin, entry.end);
    const auto part = data.subspan(static_cast<size_t>(entry.begin),
                                   static_cast<size_t>(entry.end - entry.begin));
    file.tensors_.emplace(name, Tensor{entry.type, std::move(entry.shape), part});
  }
  std::sort(extents.begin(), extents.end());
  int64_t end = 0;
  for (const auto& [begin, next_end] : extents) {
    require(begin == end, path, ": the arrays in the header overlap or leave a gap at byte ", end);
    end = next_end;
  }
  require(end == data_size, path, ": the header describes ", end,
          " bytes of data, but the file has ", data_size);
  return file;
}

const SafetensorsFile::Tensor& SafetensorsFile::checked(const std::string& name, DType type,
                                                        std::span<const int64_t> shape) const {
  const auto found = tensors_.find(name);
  require(found != tensors_.end(), path_, ": the array ", quote(name), " is missing");
  const Tensor& tensor = found->second;
  require(tensor.type == type, path_, ": the array ", quote(name), " has element type ",
          dtype_name(tensor.type), ", expected ", dtype_name(type));
  bool fits = tensor.shape.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = shape[i] < 0 || shape[i] == tensor.shape[i];
  }
  require(fits, path_, ": the array ", quote(name), " has shape ", shape_text(tensor.shape),
          ", expected ", shape_text({shape.begin(), shape.end()}));
  const auto address = reinterpret_cast<uintptr_t>(tensor.bytes.data());
  require(tensor.bytes.empty() || address % static_cast<uintptr_t>(dtype_size(type)) == 0, path_,
          ": the array ", quote(name), " is not aligned to its element size");
  return tensor;
}

SafetensorsWriter::Id SafetensorsWriter::declare(std::string name, DType type,
                                                 std::vector<int64_t> shape) {
  const int64_t size = byte_count(shape, type);
  require(size >= 0, file_.path(), ": ", quote(name), " of shape ", shape_text(shape),
          " is too large");
  entries_.push_back({std::move(name), type, std::move(shape), size, 0});
  return entries_.size() - 1;
}

void SafetensorsWriter::begin(const std::map<std::string, std::string>& metadata) {
  // Descending element size keeps every array aligned without gaps.
  std::vector<Id> order(entries_.size());
  std::iota(order.begin(), order.end(), Id{0});
  std::stable_sort(order.begin(), order.end(), [&](Id a, Id b) {
    return dtype_size(entries_[a].type) > dtype_size(entries_[b].type);
  });
  nlohmann::json header;
  if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
  int64_t end = 0;
  for (const Id id : order) {
    Entry& entry = entries_[id];
    entry.offset = end;
    end += entry.size;
    header[entry.name] = {{"dtype", dtype_name(entry.type)},
                          {"shape", entry.shape},
                          {"data_offsets", {entry.offset, end}}};
  }
  // Names and metadata may contain invalid UTF-8, which JSON cannot represent.
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  constexpr size_t kAlignment = 64;
  text.append((kAlignment - (8 + text.size()) % kAlignment) % kAlignment, ' ');
  require(static_cast<int64_t>(text.size()) <= kLongestHeader, file_.path(),
          ": the header would exceed the safetensors limit of ", kLongestHeader, " bytes");
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
