#include "lase/base/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lase/base/checksum.h"
#include "lase/base/error.h"
#include "lase/base/random.h"
#include "lase/base/safetensors_header.h"

namespace lase {
namespace {

constexpr int64_t kLongestHeader = 100'000'000;  // as in the reference implementation
constexpr const char* kChecksums = "checksums";  // metadata: JSON {array: checksum}
constexpr const char* kOfMetadata = "";          // the name of the other metadata in it
constexpr std::string_view kNoChecksum = "0000000000000000";

// Invalid UTF-8 in names and metadata is replaced.
std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Depends on contents, element type and shape.
std::string array_checksum(std::span<const std::byte> bytes, DType type,
                           const std::vector<int64_t>& shape) {
  const std::string form = join(dtype_name(type), " ", shape_text(shape));
  return checksum_text(mix(checksum(bytes) ^ checksum(std::as_bytes(std::span(form)))));
}

std::string metadata_checksum(const Metadata& metadata) {
  uint64_t sum = 0;
  for (const auto& [key, text] : metadata) {
    if (key == kChecksums) continue;
    for (const std::string& part : {key, text}) {
      sum = mix(sum ^ checksum(std::as_bytes(std::span(part))));
    }
  }
  return checksum_text(sum);
}

std::map<std::string, std::string> parse_checksums(const Metadata& metadata,
                                                   const std::string& path) {
  std::map<std::string, std::string> checksums;
  const auto found = metadata.find(kChecksums);
  if (found == metadata.end()) return checksums;
  const auto all = nlohmann::json::parse(found->second, nullptr, false);
  require(all.is_object(), path, ": is damaged: its checksums are not a JSON object");
  for (const auto& [name, text] : all.items()) {
    require(text.is_string(), path, ": is damaged: the checksum of ", quote(name),
            " is not a string");
    checksums.emplace(name, text.get<std::string>());
  }
  const auto expected = checksums.find(kOfMetadata);
  require(expected != checksums.end() && expected->second == metadata_checksum(metadata), path,
          ": is damaged: the metadata does not match its checksum");
  return checksums;
}

}  // namespace

SafetensorsFile SafetensorsFile::open(const std::string& path) {
  auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  return parse(bytes, path, std::move(file));
}

bool SafetensorsFile::is_safetensors(std::span<const std::byte> bytes) {
  if (bytes.size() < 9 || bytes[8] != std::byte{'{'}) return false;
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return length <= uint64_t{kLongestHeader};
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

void SafetensorsFile::verify(int64_t largest) const {
  const auto checksums = parse_checksums(metadata_, path_);
  if (checksums.empty()) return;
  for (const auto& [name, tensor] : tensors_) {
    if (std::ssize(tensor.bytes) > largest) continue;
    const auto expected = checksums.find(name);
    require(expected != checksums.end() &&
                expected->second == array_checksum(tensor.bytes, tensor.type, tensor.shape),
            path_, ": is damaged: the array ", quote(name), " does not match its checksum");
  }
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

std::string SafetensorsWriter::header(const std::vector<std::string>& checksums) const {
  nlohmann::json of_arrays = {{kOfMetadata, metadata_checksum(metadata_)}};
  nlohmann::json header;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    header[entry.name] = {{"dtype", dtype_name(entry.type)},
                          {"shape", entry.shape},
                          {"data_offsets", {entry.offset, entry.offset + entry.size}}};
    of_arrays[entry.name] = checksums[i];
  }
  Metadata metadata = metadata_;
  metadata[kChecksums] = dump(of_arrays);
  header[std::string(kMetadataKey)] = metadata;
  std::string text = dump(header);
  constexpr size_t kAlignment = 64;
  text.append((kAlignment - (8 + text.size()) % kAlignment) % kAlignment, ' ');
  require(static_cast<int64_t>(text.size()) <= kLongestHeader, file_.path(),
          ": the header would exceed the safetensors limit of ", kLongestHeader, " bytes");
  const uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

void SafetensorsWriter::begin(const Metadata& metadata) {
  metadata_.clear();
  for (const auto& [key, text] : metadata) {
    // As it will be read back: JSON cannot represent invalid UTF-8.
    metadata_[key] = nlohmann::json::parse(dump(text)).get<std::string>();
  }
  // Descending element size keeps every array aligned without gaps.
  std::vector<Id> order(entries_.size());
  std::iota(order.begin(), order.end(), Id{0});
  std::stable_sort(order.begin(), order.end(), [&](Id a, Id b) {
    return dtype_size(entries_[a].type) > dtype_size(entries_[b].type);
  });
  int64_t end = 0;
  for (const Id id : order) {
    entries_[id].offset = end;
    end += entries_[id].size;
  }
  // All checksums have the same length, so commit() writes a header of the same size.
  const std::string text =
      header(std::vector<std::string>(entries_.size(), std::string(kNoChecksum)));
  data_start_ = static_cast<int64_t>(text.size());
  file_.reserve(data_start_ + end);
  file_.write_at(0, std::as_bytes(std::span(text)));
}

void SafetensorsWriter::commit() {
  if (!file_.kept()) return;
  int64_t end = data_start_;
  for (const Entry& entry : entries_) end += entry.size;
  {
    const auto mapped = file_.map(end);
    std::vector<std::string> checksums;
    for (const Entry& entry : entries_) {
      const auto bytes =
          std::span(mapped.get() + data_start_ + entry.offset, static_cast<size_t>(entry.size));
      checksums.push_back(array_checksum(bytes, entry.type, entry.shape));
    }
    const std::string text = header(checksums);
    file_.write_at(0, std::as_bytes(std::span(text)));
  }
  file_.commit();
}

void SafetensorsWriter::write_bytes(Id id, int64_t offset, std::span<const std::byte> bytes) {
  file_.write_at(data_start_ + entries_[id].offset + offset, bytes);
}

}  // namespace lase
